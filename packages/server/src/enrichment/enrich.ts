// Enriches a delivery with what its receiver remembers: computed when it is first delivered, kept for its redeliveries.
//
// 1. A publish never waits for it, and a poll waits no longer than BUDGET_MS: a delivery that is not ready by then goes
//    out without it, and work that was not begun by then is not begun, so that nobody's next poll waits behind it.
// 2. It shows only what the receiver itself may see at that moment.
// 3. It computes on this thread in steps, one step of all polls in a turn of the event loop: tenants take turns, and
//    receivers inside a tenant. Thirty polls of a hundred deliveries took 149 ms in one turn.
// 4. After a failure, which is logged, a delivery goes out without it; the next attempt tries again.
import type { Enrich, ToEnrich } from '../delivery/claim.ts'
import { readEnvelope } from '../delivery/long-payloads.ts'
import type { Mailbox } from '../delivery/sql.ts'
import { makeBatches } from '../kernel/batches.ts'
import type { Clock } from '../kernel/clock.ts'
import { STORED_DEPTH } from '../kernel/json.ts'
import { parseBody } from '../kernel/json-steps.ts'
import type { Logger } from '../kernel/logger.ts'
import { nextTurn, type Pause, type StepTurns } from '../kernel/step-turns.ts'
import { withinTime } from '../kernel/within-time.ts'
import type { Recalled } from '../memory/index/memory-index.ts'
import type { Recall } from '../memory/recall.ts'
import type { Viewer } from '../memory/see.ts'
import type { Store } from '../store/db.ts'
import { MEMORIES, type Ahead, type FoundAhead } from './ahead.ts'
import { blocksOf, type ToShow } from './blocks.ts'
import { queryOf } from './query.ts'
import { keepEnrichment } from './sql.ts'
import { viewerOf } from './viewer.ts'

const BUDGET_MS = 1_000
/** How long a poll waits for a search begun ahead: an unavailable model must leave time for a search by words. */
const UNDER_WAY_MS = BUDGET_MS / 4
/**
 * A memory with a lower score has nothing to do with the event. Measured with judged questions as events, in every
 * collection of 8 to 10,342 memories: with 0.06, at least 96 % of questions meant for another collection got nothing,
 * and at least 89 % of those with an answer among their first three results kept it. With 0.05 only 92 % got nothing;
 * with 0.08 only 78 % kept it. So low a score is enough because judges rarely call anything relevant; unrelated
 * memories score a hundredth. A query that was not embedded in time has only its words, which match by chance, so it
 * needs a higher score.
 */
export const FLOOR = { score: 0.06, byWords: 0.2 } as const

const belongs = ({ score, signals: { similarity } }: Recalled): boolean =>
  score >= (similarity > 0 ? FLOOR.score : FLOOR.byWords)

/** Searches of a poll under way at once: more would only wait for each other. */
const AT_ONCE = 4
/** Blocks that are made together. */
const TOGETHER = 100
/** Blocks that are written in one transaction: with one writer, all other transactions wait for it. */
const KEPT_AT_ONCE = 25

interface EnrichTools {
  store: Store
  recall: Recall
  clock: Clock
  log: Logger
  /** Computation on this thread waits here for its turn. */
  steps: StepTurns
  ahead: SearchedAhead
}

export interface SearchedAhead extends Pick<Ahead, 'take' | 'polled'> {
  searchFingerprint(viewer: Viewer): Promise<string | null>
  /** Called for each delivery with whether its search was made ahead. */
  count(wasAhead: boolean): void
}

/** Gives the deliveries of one poll what was found for them ahead, as far as it is still valid. */
function makeAheadResults({ take, polled, searchFingerprint, count }: SearchedAhead, viewer: Viewer, clock: Clock) {
  let current: Promise<string | null> | undefined
  let hasMemories: boolean | null = null
  let wereUnchanged: boolean | null = null

  async function isValid(found: FoundAhead): Promise<boolean> {
    const isUnchanged =
      found.searchFingerprint !== null && found.searchFingerprint === (await (current ??= searchFingerprint(viewer)))
    wereUnchanged = isUnchanged && wereUnchanged !== false
    return isUnchanged && found.teamId === viewer.teamId
  }

  return {
    async of(deliveryId: string): Promise<readonly Recalled[] | null> {
      const found = await withinTime(clock, UNDER_WAY_MS, take(deliveryId), () => null)
      if (!found || !(await isValid(found))) return null
      return found.recalled
    },
    note(recalled: readonly Recalled[], wasAhead: boolean): void {
      hasMemories = hasMemories === true || recalled.length > 0
      count(wasAhead)
    },
    end: (): void => polled({ tenantId: viewer.tenantId, recipientId: viewer.id }, { hasMemories, wereUnchanged }),
  }
}

async function envelopeOf(store: Store, tenantId: string, { eventId, envelope }: ToEnrich): Promise<object | null> {
  const text = envelope ?? (await readEnvelope(store, tenantId, eventId))
  if (text === undefined) return null
  const parsed = await parseBody(Buffer.from(text), { extraDepth: STORED_DEPTH })
  if (envelope === null) await nextTurn() // four of them at once would make one long step
  return parsed.ok ? (parsed.value as object) : null
}

/** Writes blocks in transactions of a few each, so that other transactions run in between. */
async function keepBlocks(store: Store, mailbox: Mailbox, blocks: ReadonlyMap<string, string>): Promise<void> {
  const caller = { tenantId: mailbox.tenantId, id: mailbox.recipientId }
  const all = [...blocks]
  const kept: Promise<void>[] = []
  for (let at = 0; at < all.length; at += KEPT_AT_ONCE) {
    const some = all.slice(at, at + KEPT_AT_ONCE)
    kept.push(store.tx(async (tx) => keepEnrichment(tx, mailbox, some), { caller }))
  }
  await Promise.all(kept)
}

export function makeEnrich({ store, recall, clock, log, steps, ahead }: EnrichTools): Enrich {
  /** Searches for deliveries of one poll; those about the same thing share one search. */
  function makeSearch(viewer: Viewer, pause: Pause): (delivery: ToEnrich) => Promise<readonly Recalled[]> {
    const searches = new Map<string, Promise<readonly Recalled[]>>()
    return async (delivery) => {
      await pause()
      const envelope = await envelopeOf(store, viewer.tenantId, delivery)
      const query = envelope === null ? '' : queryOf(envelope)
      if (query === '') return []
      const key = `${delivery.depth} ${query}`
      const found = searches.get(key) ?? recall(viewer, query, { limit: MEMORIES[delivery.depth], budgetMs: BUDGET_MS })
      searches.set(key, found)
      return found
    }
  }

  /** Adds the block of each delivery to `blocks`, until `isOver` says that it is too late. */
  async function enrichAll(
    blocks: Map<string, string>,
    viewer: Viewer,
    deliveries: readonly ToEnrich[],
    isOver: () => boolean,
  ): Promise<void> {
    const pause = async (): Promise<void> => {
      await steps.take(viewer.tenantId, viewer.id)
      if (isOver()) throw new Error('its time is over')
    }
    const search = makeSearch(viewer, pause)
    const aheadResults = makeAheadResults(ahead, viewer, clock)
    // Deliveries that are ready at the same time are read and shown together.
    const shown = makeBatches<ToShow, string>({
      run: (items) => blocksOf(store, viewer, items, clock.now(), pause),
      lanes: 1,
      maxItems: TOGETHER,
    })
    const failures: unknown[] = []
    const failed = (error: unknown): void => {
      if (!isOver()) failures.push(error)
    }
    async function show(delivery: ToEnrich, recalled: readonly Recalled[], wasAhead: boolean): Promise<void> {
      aheadResults.note(recalled, wasAhead)
      blocks.set(delivery.id, await shown.add({ delivery, recalled: recalled.filter(belongs) }))
    }
    const left: ToEnrich[] = []
    const fromAhead = deliveries.map(async (delivery) => {
      const recalled = await aheadResults.of(delivery.id).catch(() => null)
      if (recalled) await show(delivery, recalled, true).catch(failed)
      else left.push(delivery)
    })
    // Workers share one list: each takes the next delivery when it has done one.
    async function searchRemaining(): Promise<void> {
      for (let delivery = left.shift(); delivery && !isOver(); delivery = left.shift())
        await search(delivery)
          .then((recalled) => show(delivery!, recalled, false))
          .catch(failed)
    }
    await Promise.all(fromAhead)
    await Promise.all(Array.from({ length: AT_ONCE }, searchRemaining))
    // One line for all: a slow search fails for each delivery of a poll.
    if (failures.length > 0) log.warn({ err: failures[0], deliveries: failures.length }, 'deliveries were not enriched')
    aheadResults.end()
  }

  return async (mailbox, deliveries) => {
    const blocks = new Map<string, string>()
    try {
      const viewer = await viewerOf(store, mailbox)
      let over = false
      const filled = enrichAll(blocks, viewer, deliveries, () => over)
      await withinTime<unknown>(clock, BUDGET_MS, filled, () => {})
      over = true
      const ready = new Map(blocks)
      await keepBlocks(store, mailbox, ready)
      return ready
    } catch (error) {
      log.warn({ err: error }, 'deliveries were not enriched')
      return new Map()
    }
  }
}
