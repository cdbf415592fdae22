// Assembles the parts of recall for a configuration: the model, the index, the background run, the search.
import type { Config } from '../config.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/logger.ts'
import { makeStepTurns, type StepTurns } from '../kernel/step-turns.ts'
import { makeTurns } from '../kernel/turns.ts'
import type { Store } from '../store/db.ts'
import { builtinEmbedder } from './embed/builtin.ts'
import type { Embedder } from './embed/embedder.ts'
import { serviceEmbedder } from './embed/service.ts'
import { makeEmbedding, type Embedding } from './embed-memories.ts'
import { asQuery, makeEmbedQuery } from './embed-query.ts'
import type { MemoryIndex } from './index/memory-index.ts'
import { openIndex } from './index/open-index.ts'
import { makeRecall, type Recall } from './recall.ts'
import { makeRerank } from './rerank.ts'
import type { Viewer } from './see.ts'
import { makeSimilar, type Similar } from './similar.ts'

export interface MemoryParts {
  recall: Recall
  /** Embeds a text for a search that is expected. */
  readAhead(viewer: Viewer, text: string): Promise<void>
  /** Returns a string that is unchanged while every search of the tenant finds the same; null if that is unknown. */
  searchFingerprint(viewer: Viewer): Promise<string | null>
  similar: Similar
  embedding: Embedding
  model: string
  index: MemoryIndex
  /** Long computations about memories on this thread wait here for their turn. */
  steps: StepTurns
  close(): Promise<void>
}

interface MemoryPartsTools {
  config: Pick<Config, 'embeddings' | 'rerank' | 'dataDir' | 'database'>
  store: Store
  clock: Clock
  log: Logger
  /** Used instead of the one that the configuration names. */
  embedder?: Embedder | undefined
  /** Called with the number of memories that were embedded. */
  countEmbedded?: (memories: number) => void
}

const embedderOf = ({ embeddings }: Pick<Config, 'embeddings'>, clock: Clock): Embedder =>
  embeddings.kind === 'builtin' ? builtinEmbedder() : serviceEmbedder(embeddings, clock)

/** Starts no thread: they start with the first memory or search. */
export function makeMemory(tools: MemoryPartsTools): MemoryParts {
  const { config, store, clock, log, embedder = embedderOf(config, clock), countEmbedded = () => {} } = tools
  const index = openIndex(
    config,
    store,
    ({ tenant_id, agent_id, id, title, content }) =>
      embedding.wake(tenant_id, agent_id, id, title.length + content.length),
    (error) => log.warn({ err: error }, 'the words of a memory were not all written; tried again later'),
  )
  const embedding = makeEmbedding({ store, index, embedder, clock, log, countEmbedded })
  const turns = makeTurns({ what: 'searches waiting', atOnce: embedder.queries })
  const steps = makeStepTurns()
  const rerank = config.rerank && makeRerank(config.rerank, store, clock, log)
  const embedQuery = makeEmbedQuery(embedder, turns, log)
  return {
    recall: makeRecall({ index, embedQuery, model: embedder.model, embedding, clock, rerank, steps }),
    async readAhead(viewer, text) {
      await embedQuery(viewer, asQuery(text))
    },
    async searchFingerprint(viewer) {
      // As a search does: an agent that writes a memory and is then sent an event has it found by its meaning.
      await embedding.waitForRecent(viewer.tenantId)
      return index.searchFingerprint(viewer, embedder.model)
    },
    similar: makeSimilar({ index, embedder, embedding, clock, log, turns, countEmbedded }),
    embedding,
    model: embedder.model,
    index,
    steps,
    async close() {
      await embedding.close()
      await index.close()
    },
  }
}
