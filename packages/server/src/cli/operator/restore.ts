import { ruleBroken } from '../../kernel/failure.ts'
import { makeSecrets } from '../../kernel/secrets.ts'
import { inspectDatabase } from '../../store/backup.ts'
import { databaseFile, makeDataDirectory } from '../../store/data-directory.ts'
import { ownDirectory } from '../../store/own-directory.ts'
import { replaceDatabase } from '../../store/restore.ts'
import { readSecret, secretFile } from '../../store/secret-file.ts'
import { Unsupported, type OperatorRun } from '../command.ts'
import { quoted } from '../terminal/quoted.ts'

export const run: OperatorRun = async ({ args, config }) => {
  const { databaseUrl, dataDir, secret } = config()
  const file = args[0]!
  if (databaseUrl !== null) {
    throw new Unsupported(
      'PostgreSQL is restored with its own tool, into an empty database (dropdb, createdb), with all nodes stopped',
      // Without --clean, which would leave the tables of a newer release: their next migration would fail.
      `pg_restore --exit-on-error --single-transaction --dbname="$DATABASE_URL" ${quoted(file)}`,
    )
  }
  const { schemaVersion, fingerprint } = inspectDatabase(file)
  const master = secret ?? readSecret(dataDir)
  if (master !== null && makeSecrets(master).fingerprint !== fingerprint) {
    const source = secret === null ? secretFile(dataDir) : 'SENSORIUM_SECRET'
    throw ruleBroken(
      'other_secret',
      `${file} was made with another master secret than ${source}. Put the one kept with the backup there first`,
    )
  }
  makeDataDirectory(dataDir)
  const release = ownDirectory(dataDir)
  const keptAside = await replaceDatabase(file, databaseFile(dataDir)).finally(release)
  const lines = [`The store in ${dataDir} is the one of ${file} (schema version ${schemaVersion}).`]
  if (keptAside !== null) lines.push(`What was there is kept as ${keptAside}.`)
  if (master === null)
    lines.push(
      `Put the master secret kept with the backup in ${secretFile(dataDir)}, or in SENSORIUM_SECRET, before the service starts.`,
    )
  return { json: { file, schema_version: schemaVersion, kept_aside: keptAside }, text: lines.join('\n') }
}
