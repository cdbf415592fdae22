// What says nearly the same as a text, by the cosine of their meaning alone: 1 is the same. Of a long text its beginning
// is compared, as much as the model reads at once.
//
// Before a memory is written there is a moment to look: when the model is in the process, nothing else waits to be embedded
// and the text is short, it is embedded first, compared, and stored with its meaning, which saves doing that later. It costs a creation AT_ONCE_MS
// at the most; past that, and whenever there is more to do, the memory is written as ever and nothing is said.
import type { Clock } from '../kernel/clock.ts'
import { Failure, unavailable } from '../kernel/failure.ts'
import type { Logger } from '../kernel/logger.ts'
import type { Turns } from '../kernel/turns.ts'
import { withinTime } from '../kernel/within-time.ts'
import type { Embedder } from './embed/embedding.ts'
import type { Embedding } from './embed-memories.ts'
import type { MemoryIndex, ReadyVectors } from './index/memory-index.ts'
import type { Viewer } from './see.ts'

/** More than this is nearly the same: worth a look before one more is stored. */
export const ALIKE = 0.92
const TOLD = 10
const AT_ONCE_MS = 50
const SHORT = 1_000
/** Tenants that look at once, each with one memory. */
const MAX_LOOKING = 2

export interface Likeness {
  id: string
  score: number
}

/** What is known of a text before it is written. */
export interface Known {
  vectors: ReadyVectors
  similar: Likeness[]
}

export interface Similar {
  /** The likest memories that the viewer sees, likest first. */
  find(viewer: Viewer, text: string, limit: number): Promise<Likeness[]>
  /** Null when it cannot be said at once. */
  atOnce(viewer: Viewer, text: string): Promise<Known | null>
}

export interface SimilarTools {
  index: MemoryIndex
  embedder: Embedder
  embedding: Embedding
  clock: Clock
  log: Logger
  /** At the model, with the searches. */
  turns: Turns
}

/** More than the tokens that the model reads at once. */
const MAX_READ = 4_096

export function makeSimilar({ index, embedder, embedding, clock, log, turns }: SimilarTools): Similar {
  const looking = new Set<string>()

  async function likest(viewer: Viewer, vector: Float32Array, limit: number): Promise<Likeness[]> {
    const { kind, id, tenantId, teamId } = viewer
    const found = await index.find({
      viewer: { kind, id, tenantId, teamId },
      scope: null,
      type: null,
      minConfidence: 0,
      filters: {},
      limit,
      now: clock.now(),
      words: [],
      meaning: { vector, tokens: new Int8Array() },
      model: embedder.model,
    })
    return found
      .map((ranked) => ({ id: ranked.id, score: Math.round(ranked.signals.similarity * 10_000) / 10_000 }))
      .sort((a, b) => b.score - a.score || (a.id < b.id ? 1 : -1))
  }

  async function look(viewer: Viewer, text: string): Promise<Known> {
    await index.prepare()
    const [windows] = await embedder.embed([text])
    const similar = await likest(viewer, windows![0]!.vector, TOLD)
    return {
      vectors: { model: embedder.model, windows: windows! },
      similar: similar.filter(({ score }) => score > ALIKE),
    }
  }

  return {
    async find(viewer, text, limit) {
      await embedding.soon(viewer.tenantId)
      const beginning = text.slice(0, MAX_READ).toWellFormed()
      const embedded = await turns
        .take(viewer.tenantId, viewer.id, () => embedder.query(beginning))
        .catch((error: unknown) => {
          if (error instanceof Failure) throw error // too many of them
          log.warn({ err: error }, 'a memory was not embedded to be compared')
          throw unavailable('What the memory means cannot be found out at the moment')
        })
      return likest(viewer, embedded.vector, limit)
    },

    async atOnce(viewer, text) {
      const { tenantId } = viewer
      const hasMoment = embedder.isInProcess && embedding.isQuiet() && text.length <= SHORT
      if (!hasMoment || looking.size >= MAX_LOOKING || looking.has(tenantId)) return null
      looking.add(tenantId)
      const known = look(viewer, text)
        .catch((error: unknown) => {
          log.warn({ err: error }, 'a new memory was not compared with others')
          return null
        })
        .finally(() => looking.delete(tenantId))
      return withinTime<Known | null>(clock, AT_ONCE_MS, known, () => null)
    },
  }
}
