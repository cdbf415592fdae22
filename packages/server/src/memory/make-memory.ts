// The parts of recall put together for a configuration: which model, which index, the background run, the search.
import type { Config } from '../config.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/logger.ts'
import { makeTurns } from '../kernel/turns.ts'
import type { Store } from '../store/db.ts'
import { builtinEmbedder } from './embed/builtin.ts'
import type { Embedder } from './embed/embedding.ts'
import { serviceEmbedder } from './embed/service.ts'
import { makeEmbedding, type Embedding } from './embed-memories.ts'
import type { MemoryIndex } from './index/memory-index.ts'
import { openIndex } from './index/open-index.ts'
import { makeRecall, type Recall } from './recall.ts'
import { makeRerank } from './rerank.ts'
import { makeSimilar, type Similar } from './similar.ts'

export interface MemoryParts {
  recall: Recall
  similar: Similar
  embedding: Embedding
  model: string
  index: MemoryIndex
  close(): Promise<void>
}

export interface MemoryPartsTools {
  config: Pick<Config, 'embeddings' | 'rerank' | 'dataDir' | 'databaseUrl'>
  store: Store
  clock: Clock
  log: Logger
  /** Instead of the one that the configuration names. */
  embedder?: Embedder | undefined
  embedded?: (memories: number) => void
}

const embedderOf = ({ embeddings }: Pick<Config, 'embeddings'>, clock: Clock): Embedder =>
  embeddings.kind === 'builtin' ? builtinEmbedder() : serviceEmbedder(embeddings, clock)

/** Starts nothing: the threads come with the first memory or search. */
export function makeMemory(tools: MemoryPartsTools): MemoryParts {
  const { config, store, clock, log, embedder = embedderOf(config, clock), ...told } = tools
  const index = openIndex(config, store, ({ tenant_id, agent_id, id, title, content }) =>
    embedding.wake(tenant_id, agent_id, id, title.length + content.length),
  )
  const embedding = makeEmbedding({ store, index, embedder, clock, log, ...told })
  const turns = makeTurns({ what: 'searches waiting', atOnce: embedder.queries })
  const rerank = config.rerank && makeRerank(config.rerank, store, clock, log)
  return {
    recall: makeRecall({ index, embedder, embedding, clock, log, turns, rerank }),
    similar: makeSimilar({ index, embedder, embedding, clock, log, turns }),
    embedding,
    model: embedder.model,
    index,
    async close() {
      await embedding.close()
      await index.close()
    },
  }
}
