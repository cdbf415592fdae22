// Opens the index of the configured store. Starts nothing: the search thread starts with the first search.
import type { Config } from '../../config.ts'
import { databaseFile } from '../../store/data-directory.ts'
import type { Store } from '../../store/db.ts'
import type { IndexedMemory, MemoryIndex } from './memory-index.ts'
import { postgresIndex } from './postgres-index.ts'
import { sqliteIndex } from './sqlite-index.ts'

export const openIndex = (
  config: Pick<Config, 'dataDir' | 'databaseUrl'>,
  store: Store,
  toEmbed: (memory: IndexedMemory) => void,
): MemoryIndex =>
  config.databaseUrl === null
    ? sqliteIndex(store, databaseFile(config.dataDir), toEmbed)
    : postgresIndex(store, config.databaseUrl, toEmbed)
