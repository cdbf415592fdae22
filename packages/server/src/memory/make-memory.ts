// The parts of recall put together for a configuration: which model, which index, the background run, the search.
import type { Config } from '../config.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/logger.ts'
import type { Store } from '../store/db.ts'
import { databaseFile } from '../store/data-directory.ts'
import { builtinEmbedder } from './embed/builtin.ts'
import type { Embedder } from './embed/embedding.ts'
import { serviceEmbedder } from './embed/service.ts'
import { makeEmbedding, type Embedding } from './embed-memories.ts'
import type { FindText } from './memory-index.ts'
import { postgresIndex } from './index-postgres.ts'
import { sqliteIndex } from './index-sqlite.ts'
import { makeRecall, type Recall } from './recall.ts'

export interface MemoryParts {
  recall: Recall
  embedding: Embedding
  model: string
  findText: FindText
  close(): Promise<void>
}

export interface MemoryPartsTools {
  config: Pick<Config, 'embeddings' | 'dataDir' | 'databaseUrl'>
  store: Store
  clock: Clock
  log: Logger
  embedded?: (memories: number) => void
}

const embedderOf = ({ embeddings }: Pick<Config, 'embeddings'>, clock: Clock): Embedder =>
  embeddings.kind === 'builtin' ? builtinEmbedder() : serviceEmbedder(embeddings, clock)

/** Starts nothing: the threads come with the first memory or search. */
export function makeMemory({ config, store, clock, log, ...told }: MemoryPartsTools): MemoryParts {
  const embedder = embedderOf(config, clock)
  const index =
    config.databaseUrl === null
      ? sqliteIndex(store, databaseFile(config.dataDir))
      : postgresIndex(store, config.databaseUrl)
  const embedding = makeEmbedding({ store, index, embedder, clock, log, ...told })
  return {
    recall: makeRecall({ index, embedder, embedding, clock, log }),
    embedding,
    model: embedder.model,
    findText: index.findText,
    async close() {
      await embedding.close()
      await index.close()
    },
  }
}
