import { statSync } from 'node:fs'
import { copyDatabase } from '../../store/backup.ts'
import { databaseFile, isThere, storeFolder } from '../../store/data-directory.ts'
import { ruleBroken } from '../../kernel/failure.ts'
import { secretFile } from '../../store/secret-file.ts'
import { Unsupported, type OperatorRun } from '../command.ts'
import { progress } from '../terminal/progress.ts'
import { quoted } from '../terminal/quoted.ts'
import { errorScreen } from '../terminal/screen.ts'

export const run: OperatorRun = async ({ args, config }) => {
  const settings = config()
  const folder = storeFolder(settings)
  const file = args[0]!
  if (folder === null) {
    throw new Unsupported(
      'PostgreSQL is backed up with its own tool',
      `pg_dump --format=custom --file=${quoted(file)} "$DATABASE_URL"`,
    )
  }
  const database = databaseFile(folder)
  if (!isThere(database)) throw ruleBroken('no_store', `There is no store in ${folder} yet`)
  const { bytes, schemaVersion } = await watched(database, file, () => copyDatabase(database, file))
  const kept = settings.secret === null && isThere(secretFile(folder)) ? secretFile(folder) : null
  const note = `Keep the master secret (${kept ?? 'SENSORIUM_SECRET'}) too, in another place: without it no key in the copy works, and nothing that is encrypted in it can be read.`
  return {
    json: { file, bytes, schema_version: schemaVersion, secret_file: kept },
    text: `${file} holds the store as it is now: ${bytes} bytes, schema version ${schemaVersion}.\n${note}`,
  }
}

const LOOK_EVERY_MS = 200
const MIB = 1_048_576

/**
 * Shows a person how much of the copy has been written. The copy is one step off the main thread, so the size of its
 * file is the only measure of progress.
 */
async function watched<T>(from: string, to: string, copy: () => Promise<T>): Promise<T> {
  if (errorScreen.columns === null) return copy()
  const shown = progress('MiB')
  const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0
  const total = Math.ceil(sizeOf(from) / MIB)
  const timer = setInterval(() => shown.show(Math.floor(sizeOf(`${to}.partial`) / MIB), total), LOOK_EVERY_MS)
  try {
    return await copy()
  } finally {
    clearInterval(timer)
    shown.end()
  }
}
