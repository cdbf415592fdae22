import { ruleBroken } from '../../kernel/failure.ts'
import { makeSecrets } from '../../kernel/secrets.ts'
import { inspectDatabase } from '../../store/backup.ts'
import { databaseFile, makeDataDirectory, storeFolder } from '../../store/data-directory.ts'
import { ownDirectory } from '../../store/own-directory.ts'
import { replaceDatabase } from '../../store/restore.ts'
import { readSecret, secretFile } from '../../store/secret-file.ts'
import { Unsupported, type OperatorRun } from '../command.ts'
import { quoted } from '../terminal/quoted.ts'

export const run: OperatorRun = async ({ args, config }) => {
  const settings = config()
  const folder = storeFolder(settings)
  const file = args[0]!
  if (folder === null) {
    throw new Unsupported(
      'PostgreSQL is restored with its own tool, into an empty database (dropdb, createdb), with all nodes stopped',
      // Without --clean, which would leave the tables of a newer release: their next migration would fail.
      `pg_restore --exit-on-error --single-transaction --dbname="$DATABASE_URL" ${quoted(file)}`,
    )
  }
  const { schemaVersion, fingerprint } = inspectDatabase(file)
  const master = settings.secret ?? readSecret(folder)
  if (master !== null && makeSecrets(master).fingerprint !== fingerprint) {
    const source = settings.secret === null ? secretFile(folder) : 'SENSORIUM_SECRET'
    throw ruleBroken(
      'other_secret',
      `${file} was made with another master secret than ${source}. Put the one kept with the backup there first`,
    )
  }
  makeDataDirectory(folder)
  const release = ownDirectory(folder)
  const keptAside = await replaceDatabase(file, databaseFile(folder)).finally(release)
  const lines = [`The store in ${folder} is the one of ${file} (schema version ${schemaVersion}).`]
  if (keptAside !== null) lines.push(`What was there is kept as ${keptAside}.`)
  if (master === null)
    lines.push(
      `Put the master secret kept with the backup in ${secretFile(folder)}, or in SENSORIUM_SECRET, before the service starts.`,
    )
  return { json: { file, schema_version: schemaVersion, kept_aside: keptAside }, text: lines.join('\n') }
}
