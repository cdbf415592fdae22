// Opens the index of the configured store. Starts nothing: the search thread starts with the first search.
import type { Config } from '../../config.ts'
import { databaseFile } from '../../store/data-directory.ts'
import type { Store } from '../../store/db.ts'
import type { IndexedMemory, MemoryIndex } from './memory-index.ts'
import { postgresIndex } from './postgres-index.ts'
import { sqliteIndex } from './sqlite-index.ts'

export const openIndex = (
  { database, dataDir }: Pick<Config, 'database' | 'dataDir'>,
  store: Store,
  toEmbed: (memory: IndexedMemory) => void,
  failed?: (error: unknown) => void,
): MemoryIndex =>
  database.engine === 'sqlite'
    ? sqliteIndex(store, databaseFile(dataDir), toEmbed, failed)
    : postgresIndex(store, database.url, toEmbed, failed)
