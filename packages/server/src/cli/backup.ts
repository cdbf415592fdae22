import { existsSync } from 'node:fs'
import { copyDatabase } from '../store/backup.ts'
import { databaseFile } from '../store/data-directory.ts'
import { ruleBroken } from '../kernel/failure.ts'
import { readSecret, secretFile } from '../store/secret-file.ts'
import { Unsupported, type Command } from './command.ts'

export const backup: Command = {
  words: ['backup'],
  parameters: ['file'],
  summary: 'Copy the embedded store to a file, beside a running service',
  async run({ args, config }) {
    const { databaseUrl, dataDir, secret } = config()
    const file = args[0]!
    if (databaseUrl !== null) {
      throw new Unsupported(
        'PostgreSQL is backed up with its own tool',
        `pg_dump --format=custom --file=${quoted(file)} "$DATABASE_URL"`,
      )
    }
    const database = databaseFile(dataDir)
    if (!existsSync(database)) throw ruleBroken('no_store', `There is no store in ${dataDir} yet`)
    const { bytes, schemaVersion } = await copyDatabase(database, file)
    const kept = secret === null && readSecret(dataDir) !== null ? secretFile(dataDir) : null
    const note = `Keep the master secret apart and safe too (${kept ?? 'SENSORIUM_SECRET'}): without it no key in the copy works and nothing sealed opens.`
    return {
      json: { file, bytes, schema_version: schemaVersion, secret_file: kept },
      text: `${file} holds the store as it is now: ${bytes} bytes, schema version ${schemaVersion}.\n${note}`,
    }
  },
}

/** For a shell to take it as one word. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
