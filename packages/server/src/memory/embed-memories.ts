// Embeds what memories say, in the background. A new text is embedded at once after its commit; a run every few seconds
// finds what was left: by a crash, by an embedding service that was away, by a change of the model.
//
// 1. A memory is claimed before it is embedded, so that several nodes, or the command line beside a service, share the
//    work.
// 2. Vectors are kept only if the text is still the one that was embedded: its version is checked where they are
//    written.
// 3. Tenants take turns, and inside a tenant its agents: a burst of one delays nobody else's memory.
// 4. Long texts, of many windows each, have a lane of their own: a short one never waits for them.
import type { Clock } from '../kernel/clock.ts'
import { fairQueue } from '../kernel/fair-queue.ts'
import type { Logger } from '../kernel/logger.ts'
import type { Db, Store } from '../store/db.ts'
import type { Embedded, Embedder } from './embed/embedding.ts'
import { EmbeddingRefused } from './embed/service.ts'
import type { MemoryIndex } from './memory-index.ts'

/** Longer than the slowest batch; what a dead node claimed is taken over after it. */
const CLAIM_MS = 120_000
const RETRY_MS = 30_000
/** A text that the service refuses is not asked about again for a while. */
const REFUSED_MS = 3_600_000
/** Vectors of this many memories are written in one transaction: over it the embedded store would hold up events. */
const WRITTEN_TOGETHER = 16
/** Batches under way at once in a lane: while two are written, the next are embedded. */
const AHEAD = 4
/** Characters that surely fit one window of the model. Longer ones go by the slow lane, one at a time. */
const SHORT = 1_000
/** What `soon` waits for, and how long at most. */
const FEW = 8
const SOON_MS = 100
/** Changes that the search thread has had ample time to see. */
const CHANGES_KEPT = 100_000

interface Text {
  tenantId: string
  memoryId: string
  version: number
  text: string
}

export interface Embedding {
  /** A memory was written: its meaning is wanted soon. */
  wake(tenantId: string, agentId: string, memoryId: string, length: number): void
  /** Embeds what is waiting and unclaimed, all of it or so many batches. Answers how many memories were embedded. */
  runOnce(batches?: number): Promise<number>
  /** Resolves when nothing that this process knows of waits for its meaning. */
  idle(): Promise<void>
  /**
   * Waits for the few that are being embedded right now, so that who writes and then searches finds it; not for a
   * flood.
   */
  soon(): Promise<void>
  close(): Promise<void>
}

export interface EmbeddingTools {
  store: Store
  index: MemoryIndex
  embedder: Embedder
  clock: Clock
  log: Logger
  /** Told of the memories that were embedded. */
  embedded?: (memories: number) => void
}

export function makeEmbedding({ store, index, embedder, clock, log, embedded = () => {} }: EmbeddingTools): Embedding {
  const underWay = new Set<Promise<number>>()
  let working = 0
  let closed = false
  let lastRun: Promise<unknown> = Promise.resolve()

  async function texts(
    db: Db,
    claimed: readonly { tenant_id: string; memory_id: string; version: number }[],
  ): Promise<Text[]> {
    const found: Text[] = []
    for (const [tenantId, rows] of Object.entries(Object.groupBy(claimed, ({ tenant_id }) => tenant_id))) {
      const versions = new Map(rows!.map(({ memory_id, version }) => [memory_id, version]))
      // The texts of given memories, live or not.
      const memories = await db.rows<{ id: string; title: string; content: string }>(
        `select id, title, content from memories where tenant_id = ? and ${db.dialect.inList('id')}`,
        [tenantId, db.dialect.list([...versions.keys()])],
      )
      for (const { id, title, content } of memories)
        found.push({ tenantId, memoryId: id, version: versions.get(id)!, text: `${title}\n${content}` })
    }
    return found
  }

  /** Claims what the queue names. */
  const claimNamed = (names: readonly { tenantId: string; memoryId: string }[]): Promise<Text[]> =>
    store.tx(async (tx) => {
      const claimed: { tenant_id: string; memory_id: string; version: number }[] = []
      for (const [tenantId, group] of Object.entries(Object.groupBy(names, ({ tenantId }) => tenantId))) {
        // Claims given memories that wait to be embedded and are nobody's; locks them; answers those it got.
        claimed.push(
          ...(await tx.rows<{ tenant_id: string; memory_id: string; version: number }>(
            `update memory_recall set claimed_until = ? where tenant_id = ? and ${tx.dialect.inList('memory_id')} and embedded <> ? and claimed_until <= ?
             returning tenant_id, memory_id, version`,
            [
              clock.now() + CLAIM_MS,
              tenantId,
              tx.dialect.list(group!.map(({ memoryId }) => memoryId)),
              embedder.model,
              clock.now(),
            ],
          )),
        )
      }
      return texts(tx, claimed)
    })

  /** Claims what any crash, outage or change of model left behind. */
  const claimLeft = (): Promise<Text[]> =>
    store.tx(async (tx) => {
      // Claims memories that this model has not embedded and nobody has claimed, never embedded ones first; those that
      // another node is claiming are skipped; answers them.
      const claimed = await tx.rows<{ tenant_id: string; memory_id: string; version: number }>(
        `update memory_recall set claimed_until = ? where (tenant_id, memory_id) in (
           select tenant_id, memory_id from memory_recall where (embedded < ? or embedded > ?) and claimed_until <= ? order by embedded limit ? ${tx.dialect.skipLocked}
         ) returning tenant_id, memory_id, version`,
        [clock.now() + CLAIM_MS, embedder.model, embedder.model, clock.now(), embedder.batch],
      )
      return texts(tx, claimed)
    })

  async function keep(batch: readonly Text[], windows: readonly Embedded[][]): Promise<number> {
    let kept = 0
    for (let first = 0; first < batch.length; first += WRITTEN_TOGETHER) {
      kept += await store.tx(async (tx) => {
        let written = 0
        for (const [i, { tenantId, memoryId, version }] of batch.slice(first, first + WRITTEN_TOGETHER).entries()) {
          // Marks a memory as embedded if its text is still the one; answers whether it was.
          const current = await tx.run(
            'update memory_recall set embedded = ?, claimed_until = 0 where tenant_id = ? and memory_id = ? and version = ?',
            [embedder.model, tenantId, memoryId, version],
          )
          if (current === 0) continue
          await index.keep(tx, embedder.model, { tenantId, memoryId, version, windows: windows[first + i]! })
          written++
        }
        return written
      })
    }
    embedded(kept)
    return kept
  }

  const release = (batch: readonly Text[], until: number): Promise<void> =>
    store.tx(async (tx) => {
      for (const { tenantId, memoryId, version } of batch) {
        await tx.run(
          'update memory_recall set claimed_until = ? where tenant_id = ? and memory_id = ? and version = ?',
          [until, tenantId, memoryId, version],
        )
      }
    })

  /** Embeds a batch; what fails is given back for later. */
  async function embed(batch: readonly Text[]): Promise<number> {
    if (batch.length === 0) return 0
    try {
      await index.prepare()
      return await keep(batch, await embedder.embed(batch.map(({ text }) => text)))
    } catch (error) {
      if (closed) {
        await release(batch, 0) // for whoever comes next, at once
        return 0
      }
      // One text that is refused must not hold back those beside it.
      if (error instanceof EmbeddingRefused && batch.length > 1) {
        let kept = 0
        for (const one of batch) kept += await embed([one])
        return kept
      }
      log.warn({ err: error, memories: batch.length }, 'memories were not embedded; tried again later')
      await release(batch, clock.now() + (error instanceof EmbeddingRefused ? REFUSED_MS : RETRY_MS))
      return 0
    }
  }

  function begin(work: Promise<number>): Promise<unknown> {
    underWay.add(work)
    return work
      .catch((error: unknown) => !closed && log.warn({ err: error }, 'embedding failed'))
      .finally(() => underWay.delete(work))
  }

  /** Takes what is wanted in turns, so many memories a batch, and has a few batches under way. */
  function makeLane(batch: number) {
    const queue = fairQueue<{ tenantId: string; memoryId: string }>()
    const mine = new Set<Promise<unknown>>()
    let turning: Promise<void> | undefined

    async function turn(): Promise<void> {
      while (queue.size > 0 && !closed) {
        const names = queue.take(
          (
            (taken) => () =>
              ++taken >= batch
          )(0),
        )
        working += names.length
        const work = begin(claimNamed(names).then(embed)).finally(() => {
          working -= names.length
          mine.delete(work)
        })
        mine.add(work)
        if (mine.size >= AHEAD) await Promise.race(mine)
      }
    }

    function start(): void {
      // What is written in the same turn of the event loop goes into the same batch.
      turning ??= new Promise<void>((resolve) => setImmediate(resolve)).then(turn).finally(() => {
        turning = undefined
        if (queue.size > 0 && !closed) start()
      })
    }

    return {
      size: () => queue.size,
      busy: (): Promise<unknown> | undefined => turning ?? (mine.size > 0 ? Promise.all(mine) : undefined),
      push(tenantId: string, agentId: string, memoryId: string): void {
        queue.push(tenantId, agentId, { tenantId, memoryId })
        start()
      },
    }
  }

  const short = makeLane(embedder.batch)
  const long = makeLane(1)
  const waiting = (): number => short.size() + long.size()
  const busy = (): boolean => short.busy() !== undefined || long.busy() !== undefined

  async function runLeft(batches: number): Promise<number> {
    let total = 0
    // While the queue has work it goes by turns; what was left can wait.
    for (let done = 0; !busy() && done < batches; done++) {
      const batch = await claimLeft()
      if (batch.length === 0 || closed) break
      const kept = await embed(batch)
      total += kept
      if (kept === 0) break // it fails: the next run tries again
    }
    if (store.dialect.engine === 'sqlite') {
      // Cuts the log of changes from its old end.
      await store.tx((tx) =>
        tx.run('delete from memory_changes where seq <= (select max(seq) from memory_changes) - ?', [CHANGES_KEPT]),
      )
    }
    return total
  }

  return {
    wake(tenantId, agentId, memoryId, length) {
      if (!closed) (length <= SHORT ? short : long).push(tenantId, agentId, memoryId)
    },
    runOnce(batches = Infinity) {
      // One at a time: who asks while a run is under way also waits for what that run has claimed.
      const run = lastRun.then(() => runLeft(batches))
      lastRun = run.catch(() => {})
      return run
    },
    async idle() {
      while (busy()) await Promise.all([short.busy(), long.busy()])
      await lastRun
    },
    async soon() {
      if (waiting() + working === 0 || waiting() + working > FEW) return
      if (waiting() > 0) await new Promise(setImmediate)
      await Promise.race([
        Promise.allSettled([...underWay, lastRun]),
        new Promise((resolve) => setTimeout(resolve, SOON_MS).unref()),
      ])
    },
    async close() {
      closed = true
      await embedder.close()
      await Promise.all([short.busy(), long.busy()])
      await lastRun
      await Promise.allSettled(underWay)
    },
  }
}
