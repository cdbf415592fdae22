// Searches ahead: between the publish of an event and the poll that takes its delivery there is mostly time to find
// what its receiver remembers about it. A poll of a hundred deliveries then waits for none of a hundred searches.
//
// 1. A publish waits for none of it: the deliveries it stored are noted here, and work begins after its response.
// 2. A result is used only if the search would find the same again: the memories of the tenant have not changed
//    (`searchFingerprint`), nor has the receiver's team. Otherwise the poll searches, with a text that is already
//    embedded.
// 3. Only searches that are likely to be used are made: for receivers that were enriched here lately and see memories
//    at all. For a receiver whose memories keep changing the text is embedded, which stays valid, and not searched for.
// 4. Tenants take turns, and agents inside a tenant. The queue is bounded; for deliveries beyond it the poll searches.
import type { NewDelivery } from '../delivery/handover.ts'
import type { Mailbox } from '../delivery/sql.ts'
import type { Clock } from '../kernel/clock.ts'
import { makeCounts } from '../kernel/counts.ts'
import { fairQueue } from '../kernel/fair-queue.ts'
import { SHORT_LENGTH } from '../kernel/lengths.ts'
import type { Logger } from '../kernel/logger.ts'
import { nextTurn } from '../kernel/step-turns.ts'
import type { Recalled } from '../memory/index/memory-index.ts'
import type { MemoryParts } from '../memory/make-memory.ts'
import type { Viewer } from '../memory/see.ts'
import type { Store } from '../store/db.ts'
import { queryOf } from './query.ts'
import { viewerOf } from './viewer.ts'

/** While one text is embedded another is searched for; more at once would take the processors from the events. */
const AT_ONCE = 2
/** Deliveries in the queue: of one mailbox (as many as two polls take), of all, and the characters of their events. */
const MAX_WAITING = { mailbox: 200, all: 2_000, characters: 8_388_608 } as const
/** Deliveries with a result, about a kilobyte each. */
const MAX_FOUND = 4_000
/** How long a result is used: newness fades meanwhile, and a time in words, "yesterday", comes to mean another day. */
const FOUND_FOR_MS = 300_000
/** A receiver that was not enriched for this long may never poll again. */
const LATELY_MS = 600_000
const MAX_RECEIVERS = 10_000
/** Set because a search without a budget is reranked, which enrichment does not wait for. */
const BUDGET_MS = 30_000

export interface FoundAhead {
  teamId: string | null
  /** Null if there is no result to use: the text was only embedded, or it was found by words alone. */
  recalled: Recalled[] | null
  /** Of the tenant's memories, taken before the search. */
  searchFingerprint: string | null
  at: number
}

/** What a poll learnt about its receiver. */
interface Seen {
  /** Whether the receiver sees memories; null if the poll did not find out. */
  hasMemories: boolean | null
  /** Whether the memories had not changed since the search ahead; null if nothing was done ahead. */
  wereUnchanged: boolean | null
}

export interface Ahead {
  /** Notes deliveries that are stored and wait to be polled. */
  deliveriesAdded(deliveries: readonly NewDelivery[]): void
  /** Called by the poll that has the delivery. Returns what was found; null if no search was begun, or long ago. */
  take(deliveryId: string): Promise<FoundAhead | null>
  polled(mailbox: Mailbox, seen: Seen): void
  /** Resolves when nothing waits. */
  idle(): Promise<void>
  close(): Promise<void>
}

export interface AheadTools extends Pick<MemoryParts, 'recall' | 'readAhead' | 'searchFingerprint'> {
  store: Store
  clock: Clock
  log: Logger
}

/** How many memories a search asks for, by depth. */
export const MEMORIES = { light: 3, full: 8 } as const
type Depth = keyof typeof MEMORIES

interface Waiting {
  mailbox: Mailbox
  deliveryId: string
  depth: Depth
  envelope: string
}

interface Receiver extends Seen {
  at: number
}

/** Sets an entry of a map, and evicts the oldest when there are more than `most`. */
function keepLatest<K, V>(map: Map<K, V>, key: K, value: V, most: number): void {
  map.delete(key)
  map.set(key, value)
  if (map.size > most) map.delete(map.keys().next().value!)
}

/** Searches for one event. Events that say the same share one search. */
function makeSearchAhead({ clock, recall, readAhead, searchFingerprint }: AheadTools) {
  const answers = new Map<string, FoundAhead>()
  return async (viewer: Viewer, query: string, depth: Depth, keepsChanging: boolean): Promise<FoundAhead> => {
    const { id, teamId } = viewer
    const name = `${id} ${teamId ?? ''} ${depth} ${query}`
    const current = await searchFingerprint(viewer)
    const known = answers.get(name)
    if (known && current !== null && known.searchFingerprint === current) return known
    let recalled: Recalled[] | null = null
    if (keepsChanging || current === null) await readAhead(viewer, query)
    else recalled = await recall(viewer, query, { limit: MEMORIES[depth], budgetMs: BUDGET_MS })
    // Found by words alone: the model was unavailable, and may be back when the delivery is polled.
    if (recalled?.length && recalled.every(({ signals }) => signals.similarity === 0)) recalled = null
    const answer = { teamId, recalled, searchFingerprint: current, at: clock.elapsed() }
    if (recalled) keepLatest(answers, name, answer, MAX_FOUND)
    return answer
  }
}

/** The queue of deliveries to search for. A delivery that there is no room for is left out. */
function makeQueue() {
  const queue = fairQueue<Waiting>()
  const waiting = new Map<string, Waiting>()
  const waitingAt = makeCounts()
  let characters = 0

  function leave({ mailbox, deliveryId, envelope }: Waiting): void {
    waiting.delete(deliveryId)
    characters -= envelope.length
    waitingAt.add(mailbox.recipientId, -1)
  }

  function add(one: Waiting): void {
    const { mailbox, deliveryId, envelope } = one
    if (waitingAt.of(mailbox.recipientId) >= MAX_WAITING.mailbox || queue.size >= MAX_WAITING.all) return
    if (characters + envelope.length > MAX_WAITING.characters) return
    waitingAt.add(mailbox.recipientId, 1)
    characters += envelope.length
    waiting.set(deliveryId, one)
    queue.push(mailbox.tenantId, mailbox.recipientId, one)
  }

  return {
    add,
    /** Returns the next delivery whose turn it is; those that a poll has taken are skipped. */
    next(): Waiting | undefined {
      let one = queue.next()
      while (one && !waiting.has(one.deliveryId)) one = queue.next()
      if (one) leave(one)
      return one
    },
    /** Removes a delivery that a poll has; returns whether it was still waiting. */
    take(deliveryId: string): boolean {
      const one = waiting.get(deliveryId)
      if (!one) return false
      leave(one)
      return true
    },
    get isEmpty() {
      return queue.size === 0
    },
  }
}

export function makeAhead(tools: AheadTools): Ahead {
  const { store, clock, log } = tools
  const search = makeSearchAhead(tools)
  const queue = makeQueue()
  const receivers = new Map<string, Receiver>()
  /** Searches begun, by delivery. */
  const found = new Map<string, Promise<FoundAhead | null>>()
  const underWay = new Set<Promise<unknown>>()
  let closed = false

  function isExpected(mailbox: Mailbox): boolean {
    const receiver = receivers.get(mailbox.recipientId)
    return receiver?.hasMemories === true && clock.elapsed() - receiver.at <= LATELY_MS
  }

  function add({ tenant_id, recipient_id, id, enrichment, envelope }: NewDelivery): void {
    const mailbox = { tenantId: tenant_id, recipientId: recipient_id }
    if ((enrichment !== 'light' && enrichment !== 'full') || envelope.length > SHORT_LENGTH) return
    if (isExpected(mailbox)) queue.add({ mailbox, deliveryId: id, depth: enrichment, envelope })
  }

  async function find({ mailbox, envelope, depth }: Waiting): Promise<FoundAhead | null> {
    try {
      const query = queryOf(JSON.parse(envelope) as object)
      const keepsChanging = receivers.get(mailbox.recipientId)?.wereUnchanged === false
      return query === '' ? null : await search(await viewerOf(store, mailbox), query, depth, keepsChanging)
    } catch (error) {
      // The poll searches, and logs the error if it occurs again.
      if (!closed) log.debug({ err: error }, 'nothing was found ahead for a delivery')
      return null
    }
  }

  function work(): void {
    while (!closed && underWay.size < AT_ONCE) {
      const one = queue.next()
      if (!one) return
      const finding = find(one)
      keepLatest(found, one.deliveryId, finding, MAX_FOUND)
      const done = finding.then(() => {
        underWay.delete(done)
        work()
      })
      underWay.add(done)
    }
  }

  return {
    deliveriesAdded(deliveries) {
      if (closed || deliveries.length === 0) return
      for (const delivery of deliveries) add(delivery)
      // The responses of the publishes go first.
      if (!queue.isEmpty) setImmediate(work)
    },
    async take(deliveryId) {
      if (queue.take(deliveryId)) return null
      const finding = found.get(deliveryId)
      found.delete(deliveryId)
      const ready = (await finding) ?? null
      return ready && clock.elapsed() - ready.at <= FOUND_FOR_MS ? ready : null
    },
    polled(mailbox, seen) {
      const before = receivers.get(mailbox.recipientId)
      const hasMemories = seen.hasMemories ?? before?.hasMemories ?? null
      const wereUnchanged = seen.wereUnchanged ?? before?.wereUnchanged ?? null
      keepLatest(receivers, mailbox.recipientId, { hasMemories, wereUnchanged, at: clock.elapsed() }, MAX_RECEIVERS)
    },
    async idle() {
      await nextTurn()
      while (underWay.size > 0) await Promise.all(underWay)
    },
    async close() {
      closed = true
      await Promise.all(underWay)
    },
  }
}
