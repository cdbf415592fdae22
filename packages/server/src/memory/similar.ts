// Finds memories that say nearly the same as a text, by the cosine of their meaning alone: 1 is the same. Of a long
// text only the beginning is compared, as much as the model reads at once, with every window of the memories.
//
// A new memory is compared before it is written if the model runs in this process, few others wait to be embedded and
// the text is short. Those of its tenant are waited for: a client that stores the same twice in a row hears of it. The
// text is then embedded, compared, and stored with its vectors, which saves embedding it later. This delays a creation
// by AT_ONCE_MS at most, but the first one of a process by FIRST_MS, while the model is loaded. After that time, or
// when there is much other work, the memory is written as usual and no similar ones are reported.
import type { Clock } from '../kernel/clock.ts'
import { Failure, unavailable } from '../kernel/failure.ts'
import type { Logger } from '../kernel/logger.ts'
import type { Turns } from '../kernel/turns.ts'
import { withinTime } from '../kernel/within-time.ts'
import { above, baselineOf } from './baseline.ts'
import { rounded } from './calibrate.ts'
import type { EmbeddedWindow, Embedder } from './embed/embedder.ts'
import type { Embedding } from './embed-memories.ts'
import type { MemoryIndex, ReadyVectors } from './index/memory-index.ts'
import type { Viewer } from './see.ts'

/** Above this cosine two memories say nearly the same: worth a look before another one is stored. */
const ALIKE = 0.92
const MAX_REPORTED = 10
/** It takes 8 to 20 ms where nothing else computes. */
const AT_ONCE_MS = 200
/** The model is loaded in 0.5 to 1 s. */
const FIRST_MS = 2_000
const SHORT = 1_000
/** Tenants that compare a new memory at the same time; each compares one. */
const MAX_LOOKING = 2

interface Likeness {
  id: string
  score: number
}

/** The vectors of a text, and the memories similar to it, before it is written. */
interface ComparedText {
  vectors: ReadyVectors
  similar: Likeness[]
}

export interface Similar {
  /** Returns the most similar memories that the viewer sees, most similar first. */
  find(viewer: Viewer, text: string, limit: number): Promise<Likeness[]>
  /** Compares a text that is about to be written. Resolves to null when that cannot be done at once. */
  compareNew(viewer: Viewer, text: string): Promise<ComparedText | null>
}

export interface SimilarTools {
  index: MemoryIndex
  embedder: Embedder
  embedding: Embedding
  clock: Clock
  log: Logger
  /** Turns at the model, shared with searches. */
  turns: Turns
  /** Called with the number of memories that were embedded here. */
  countEmbedded?: (memories: number) => void
}

/** A new memory that is being compared. */
interface Attempt {
  /** Whether the model has been given its text. */
  hasBegun: boolean
  /** Whether nobody waits for the result any more. */
  isOver: boolean
}

/** In characters: more than the tokens that the model reads at once. */
const MAX_READ = 4_096

export function makeSimilar(tools: SimilarTools): Similar {
  const { index, embedder, embedding, clock, log, turns, countEmbedded = () => {} } = tools
  /** The tenants that compare a new memory. */
  const looking = new Map<string, Attempt>()
  let hasCompared = false

  async function mostSimilar(
    viewer: Viewer,
    text: string,
    embedded: EmbeddedWindow,
    limit: number,
    leastCos?: number,
  ): Promise<Likeness[]> {
    if (embedded.isUnread) return []
    const { kind, id, tenantId, teamId } = viewer
    const found = await index.nearest({
      viewer: { kind, id, tenantId, teamId },
      limit,
      now: clock.now(),
      meaning: { vector: embedded.vector, tokens: new Int8Array() },
      model: embedder.model,
      ...(leastCos !== undefined && { leastCos }),
    })
    // A service is presumed to know all languages.
    const baseline = embedder.isInProcess ? baselineOf(text, embedded.words ?? []).cos : 0
    return found.map(({ id, cos }) => ({ id, score: rounded(Math.min(1, above(baseline, cos))) }))
  }

  async function embedAndCompare(viewer: Viewer, text: string, attempt: Attempt): Promise<ComparedText | null> {
    await index.prepare()
    await embedding.idleIn(viewer.tenantId)
    if (attempt.isOver) return null
    attempt.hasBegun = true
    const [windows] = await embedder.embed([text])
    // What exceeds the baseline of a language is at most the cosine.
    const similar = await mostSimilar(viewer, text, windows![0]!, MAX_REPORTED, ALIKE)
    return {
      vectors: { model: embedder.model, windows: windows! },
      similar: similar.filter(({ score }) => score > ALIKE),
    }
  }

  return {
    async find(viewer, text, limit) {
      await embedding.waitForRecent(viewer.tenantId)
      const beginning = text.slice(0, MAX_READ).toWellFormed()
      const embedded = await turns
        .take(viewer.tenantId, viewer.id, () => embedder.query(beginning, viewer.tenantId))
        .catch((error: unknown) => {
          if (error instanceof Failure) throw error // too many texts wait for the model
          log.warn({ err: error }, 'a memory was not embedded to be compared')
          throw unavailable('What the memory means cannot be found out at the moment')
        })
      return mostSimilar(viewer, beginning, embedded, limit)
    },

    async compareNew(viewer, text) {
      const { tenantId } = viewer
      const hasMoment = embedder.isInProcess && embedding.isCalm() && text.length <= SHORT
      if (!hasMoment || looking.size >= MAX_LOOKING || looking.has(tenantId)) return null
      const attempt: Attempt = { hasBegun: false, isOver: false }
      const end = (): void => {
        if (looking.get(tenantId) === attempt) looking.delete(tenantId)
      }
      looking.set(tenantId, attempt)
      const compared = embedAndCompare(viewer, text, attempt)
        .catch((error: unknown) => {
          log.warn({ err: error }, 'a new memory was not compared with others')
          return null
        })
        .finally(end)
      const ms = hasCompared ? AT_ONCE_MS : FIRST_MS
      const inTime = await withinTime<ComparedText | null>(clock, ms, compared, () => null)
      hasCompared = true
      attempt.isOver = true
      // What has begun keeps its place, because it still takes the model's time.
      if (!attempt.hasBegun) end()
      if (inTime) countEmbedded(1)
      return inTime
    },
  }
}
