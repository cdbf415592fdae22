// Embeds the texts of memories, in the background. A new text is embedded at once after its commit; a run every few
// seconds finds what was left by a crash, an outage of the embedding service or a change of the model.
//
// 1. A memory is claimed before it is embedded (embedding-claims.ts).
// 2. Vectors are kept only if the text is still the one that was embedded: its version is checked when they are
//    written.
// 3. Tenants take turns, and agents inside a tenant: a burst of one agent delays no other's memories. Past MAX_WAITING
//    memories of one agent the rest is left to the run.
// 4. Long texts, of many windows each, have lanes of their own, of which a tenant may take half, and of what was left
//    one long text at a time is embedded beside the short ones: a short text never waits for long ones, whoever sent
//    them.
import { makeBatches } from '../kernel/batches.ts'
import type { Clock } from '../kernel/clock.ts'
import { makeCounts } from '../kernel/counts.ts'
import type { Logger } from '../kernel/logger.ts'
import { makeTurns } from '../kernel/turns.ts'
import type { Store } from '../store/db.ts'
import type { EmbeddedWindow, Embedder } from './embed/embedder.ts'
import { EmbeddingRefused } from './embed/service.ts'
import {
  makeEmbeddingClaims,
  type ClaimedText,
  type EmbeddingClaims,
  type MemoryName,
  type WhyReleased,
} from './embedding-claims.ts'
import { makeEmbedLeft, SHORT } from './embed-left.ts'
import type { MemoryIndex } from './index/memory-index.ts'

/** Memories whose vectors are written in one transaction: with more, the embedded store would hold up events. */
const WRITTEN_TOGETHER = 16
/** Batches under way at once, of short and of long texts each: while two are written, the next are embedded. */
const BATCHES_AT_ONCE = 4
/** Of those of long texts, for tenants that have none under way: such a text may take the model many seconds. */
const KEPT_LONG = 2
/** More memories than this that wait are a flood: nobody waits for its end. */
const FEW = 8
/** How long `waitForRecent` waits at most. */
const MAX_AWAITED_MS = 100
/** Memories of one agent that may wait in the queue. */
const MAX_WAITING = 1_000

export interface Embedding {
  /** Queues a memory that was written, to be embedded soon. */
  wake(tenantId: string, agentId: string, memoryId: string, length: number): void
  /** Whether so few memories wait to be embedded that one more would be embedded in a moment. */
  isCalm(): boolean
  /** Resolves when the memories of a tenant that wait at present are embedded, or left for later. */
  idleIn(tenantId: string): Promise<void>
  /** Embeds waiting, unclaimed memories: all, or this many batches. Returns how many memories were embedded. */
  runOnce(batches?: number): Promise<number>
  /** Resolves when no memory that this process knows of waits to be embedded. */
  idle(): Promise<void>
  /**
   * Waits for the few memories of a tenant that are being embedded right now, so that a client that writes and then
   * searches finds what it wrote. Waits neither for a flood nor for another tenant's memories.
   */
  waitForRecent(tenantId: string): Promise<void>
  close(): Promise<void>
}

interface EmbeddingTools {
  store: Store
  index: MemoryIndex
  embedder: Embedder
  clock: Clock
  log: Logger
  /** Called with the number of memories that were embedded. */
  countEmbedded?: (memories: number) => void
}

interface ToEmbed extends MemoryName {
  agentId: string
}

/**
 * Writes vectors, a few memories in a transaction; the batch must be in the order of tenant and memory id. Returns how
 * many texts had not changed since they were embedded.
 */
async function keepVectors(
  store: Store,
  index: MemoryIndex,
  model: string,
  batch: readonly ClaimedText[],
  windows: readonly EmbeddedWindow[][],
): Promise<number> {
  let kept = 0
  for (let first = 0; first < batch.length; first += WRITTEN_TOGETHER) {
    kept += await store.tx(async (tx) => {
      let written = 0
      for (const [i, { tenantId, memoryId, version }] of batch.slice(first, first + WRITTEN_TOGETHER).entries()) {
        if (await index.keep(tx, model, { tenantId, memoryId, version, windows: windows[first + i]! })) written++
      }
      return written
    })
  }
  return kept
}

/** The memories that were queued and are not embedded yet, by tenant. */
function makeQueued() {
  const byTenant = new Map<string, Set<Promise<void>>>()
  return {
    get tenants() {
      return byTenant.size
    },
    of: (tenantId: string): ReadonlySet<Promise<void>> | undefined => byTenant.get(tenantId),
    all: (): Promise<void>[] => [...byTenant.values()].flatMap((works) => [...works]),
    /** Whether at most so many wait, of all tenants together. */
    isAtMost(many: number): boolean {
      let left = many
      for (const works of byTenant.values()) if ((left -= works.size) < 0) return false
      return true
    },
    add(tenantId: string, work: Promise<void>): void {
      const works = byTenant.get(tenantId) ?? new Set()
      byTenant.set(tenantId, works.add(work))
      void work.finally(() => {
        works.delete(work)
        if (works.size === 0) byTenant.delete(tenantId)
      })
    },
  }
}

interface EmbedBatchTools
  extends Required<Pick<EmbeddingTools, 'store' | 'index' | 'embedder' | 'log' | 'countEmbedded'>> {
  claims: EmbeddingClaims
  isClosed(): boolean
}

/** Texts of a failed batch that may fail by themselves, before any is embedded, until the service counts as down. */
const PROBES = 2

/**
 * Embeds a batch and returns how many memories got vectors. If the batch fails, its texts are tried one by one, so that
 * a text on which the service fails holds back no other, perhaps of another tenant. What is left is released for later.
 */
function makeEmbedBatch({ store, index, embedder, log, countEmbedded, claims, isClosed }: EmbedBatchTools) {
  /** Returns why the model did not embed the texts, or how many memories got vectors. */
  async function attempt(texts: readonly ClaimedText[]): Promise<number | Error> {
    let windows: EmbeddedWindow[][]
    try {
      windows = await embedder.embed(texts.map(({ text }) => text))
    } catch (error) {
      if (texts.length === 1 && !isClosed()) log.warn({ err: error }, 'a memory was not embedded; tried again later')
      return error as Error
    }
    const kept = await keepVectors(store, index, embedder.model, texts, windows)
    countEmbedded(kept)
    return kept
  }

  async function oneByOne(texts: readonly ClaimedText[]) {
    let kept = 0
    let isUp = false
    const left = { closing: [], failed: [], unsure: [], refused: [] } as Record<WhyReleased, ClaimedText[]>
    for (const [i, text] of texts.entries()) {
      const result = isClosed() ? null : await attempt([text])
      if (typeof result === 'number') {
        isUp = true
        kept += result
      } else if (isClosed()) left.closing.push(text)
      else if (result instanceof EmbeddingRefused) left.refused.push(text)
      else left.failed.push(text)
      if (isUp || left.failed.length < PROBES) continue
      left.unsure.push(...texts.slice(i + 1))
      break
    }
    // If the service embeds others, what it fails on is as good as refused.
    if (isUp) left.refused.push(...left.failed.splice(0))
    return { kept, left }
  }

  return async function embed(texts: readonly ClaimedText[]): Promise<number> {
    if (texts.length === 0) return 0
    const stopRenewing = claims.keepRenewing(texts)
    try {
      await index.prepare()
      const result = await attempt(texts)
      if (typeof result === 'number') return result
      if (texts.length > 1 && !isClosed()) {
        const { kept, left } = await oneByOne(texts)
        stopRenewing() // or it might claim again what is released
        for (const [why, some] of Object.entries(left)) await claims.release(some, why as WhyReleased)
        return kept
      }
      stopRenewing()
      const refused = result instanceof EmbeddingRefused ? 'refused' : 'failed'
      await claims.release(texts, isClosed() ? 'closing' : refused)
      return 0
    } catch (error) {
      stopRenewing()
      if (!isClosed()) log.warn({ err: error, memories: texts.length }, 'memories were not stored as embedded')
      await claims.release(texts, isClosed() ? 'closing' : 'failed')
      return 0
    } finally {
      stopRenewing()
    }
  }
}

export function makeEmbedding({
  store,
  index,
  embedder,
  clock,
  log,
  countEmbedded = () => {},
}: EmbeddingTools): Embedding {
  const { model, batch } = embedder
  const claims = makeEmbeddingClaims({ store, model, batch, clock, log })
  const embed = makeEmbedBatch({ store, index, embedder, log, countEmbedded, claims, isClosed: () => closed })
  const waiting = makeQueued()
  /** How many memories of each agent wait. */
  const counts = makeCounts()
  let closed = false
  let lastRun: Promise<unknown> = Promise.resolve()

  async function run(memories: readonly ToEmbed[]): Promise<undefined[]> {
    try {
      if (!closed) await embed(await claims.claimNamed(memories))
    } catch (error) {
      if (!closed) log.warn({ err: error }, 'embedding failed')
    }
    return memories.map(() => undefined)
  }

  const ownerOf = ({ tenantId, agentId }: ToEmbed) => ({ tenantId, senderId: agentId })
  const short = makeBatches<ToEmbed, void>({ run, lanes: BATCHES_AT_ONCE, maxItems: batch, ownerOf })
  const long = makeTurns({
    what: 'long texts to be embedded',
    atOnce: BATCHES_AT_ONCE,
    kept: KEPT_LONG,
    perAgent: MAX_WAITING,
    total: Infinity,
  })

  async function add(memory: ToEmbed, isLong: boolean): Promise<void> {
    const agent = `${memory.tenantId} ${memory.agentId}`
    if (counts.of(agent) >= MAX_WAITING) return // the run finds it
    counts.add(agent, 1)
    if (isLong) await long.take(memory.tenantId, memory.agentId, () => run([memory]))
    else await short.add(memory)
    counts.add(agent, -1)
  }

  const left = makeEmbedLeft({ claims, embed, clock, isClosed: () => closed, isQuiet: () => waiting.tenants === 0 })
  async function runLeft(batches: number): Promise<number> {
    const kept = await left(batches)
    await index.tidy()
    return kept
  }

  async function idleIn(tenantId: string): Promise<void> {
    await Promise.allSettled(waiting.of(tenantId) ?? [])
  }

  return {
    wake(tenantId, agentId, memoryId, length) {
      if (!closed) waiting.add(tenantId, add({ tenantId, agentId, memoryId }, length > SHORT))
    },
    isCalm: () => waiting.isAtMost(FEW),
    idleIn,
    runOnce(batches = Infinity) {
      // One run at a time: a caller during a run also waits for what that run has claimed.
      const run = lastRun.then(() => runLeft(batches))
      lastRun = run.catch(() => {})
      return run
    },
    async idle() {
      while (waiting.tenants > 0) await Promise.all(waiting.all())
      await lastRun
    },
    async waitForRecent(tenantId) {
      const waits = waiting.of(tenantId)?.size ?? 0
      if (waits === 0 || waits > FEW) return
      await Promise.race([idleIn(tenantId), new Promise((resolve) => setTimeout(resolve, MAX_AWAITED_MS).unref())])
    },
    async close() {
      closed = true
      await embedder.close()
      await Promise.allSettled(waiting.all())
      await lastRun
      claims.close()
    },
  }
}
