// Puts the newest retained events that match a new interest into its agent's mailbox, oldest first.
//
// History is read in pages without envelopes. If the interest has a filter, the envelopes of events whose type matches
// are then read, a megabyte at a time. With pages of 500 whole events, eight backfills at once took 3.5 GB.
import type { Activity } from '../activity/activity.ts'
import { lockAgent } from '../agents/sql.ts'
import type { Db, Store } from '../store/db.ts'
import { insertDeliveries, type NewDeliveryRow } from '../delivery/insert-deliveries.ts'
import { eventsSentTo } from '../delivery/sql.ts'
import type { Wakeups } from '../delivery/wake.ts'
import { holdRetained, pageNewestEvents, readSentEnvelopes, type ListedEvent, type EventCursor } from '../events/sql.ts'
import { ruleBroken } from '../kernel/failure.ts'
import type { MakeId } from '../kernel/ids.ts'
import { STORED_DEPTH } from '../kernel/json.ts'
import { parseBody } from '../kernel/json-steps.ts'
import type { Pause, StepTurns } from '../kernel/step-turns.ts'
import { compileFilter, type Envelope } from '../routing/filter.ts'
import { compileGlob } from '../routing/glob.ts'
import { meter } from '../tenants/usage.ts'
import { holdInterest, type InterestRow } from './sql.ts'

const PAGE = 500
const MAX_BYTES = 1_000_000
const EVENTS_A_TURN = 10
/** In bytes: an event of this length has a turn to be parsed and one for the filter, which may take 8 ms together. */
const LONG = 100_000

export interface BackfillTools {
  store: Store
  makeId: MakeId
  wakeups: Wakeups
  activity: Activity
  /**
   * One step of all backfills in a turn of the event loop: four with events of half a megabyte made turns of 55 ms. A
   * filter may take 6 ms for one event, and a publish six turns: so a step is followed by turns without one.
   */
  backfillSteps: StepTurns
  now(): number
}

/** Yields a list in parts of at most MAX_BYTES; a part has at least one event. */
function* byBytes(events: readonly ListedEvent[]): Generator<ListedEvent[]> {
  let part: ListedEvent[] = []
  let bytes = 0
  for (const event of events) {
    if (part.length > 0 && bytes + event.bytes > MAX_BYTES) {
      yield part
      part = []
      bytes = 0
    }
    part.push(event)
    bytes += event.bytes
  }
  if (part.length > 0) yield part
}

/** Returns the ids of the events that pass the filter, in their order. */
async function passing(
  store: Store,
  tenantId: string,
  events: readonly ListedEvent[],
  filter: ReturnType<typeof compileFilter>,
  most: number,
  pause: Pause,
): Promise<string[]> {
  const passed: string[] = []
  let since = 0
  for (const part of byBytes(events)) {
    if (passed.length >= most) break
    const rows = await readSentEnvelopes(
      store,
      tenantId,
      part.map(({ id }) => id),
    )
    const texts = new Map(rows.map(({ id, envelope }) => [id, envelope]))
    for (const { id, bytes } of part) {
      const isLong = bytes > LONG
      if (isLong) await pause()
      const text = texts.get(id) // null once retention has emptied it
      // Parsed as when it was published: long numbers exact, and a long event in steps.
      const envelope = text
        ? await parseBody(Buffer.from(text), { extraDepth: STORED_DEPTH, exactNumbers: true }, pause)
        : null
      if (isLong) await pause()
      if (envelope?.ok && filter.test(envelope.value as Envelope) === true) passed.push(id)
      // Filters may take a millisecond each.
      if (isLong || ++since === EVENTS_A_TURN) {
        since = 0
        await pause()
      }
    }
  }
  return passed
}

/** Returns the ids of the newest retained events that match, newest first. */
async function matchingEvents(store: Store, row: InterestRow, most: number, pause: Pause): Promise<string[]> {
  const glob = compileGlob(row.event_type)
  const filter = row.filter_expression === null ? null : compileFilter(row.filter_expression)
  const found: string[] = []
  for (let before: EventCursor = { received_at: Number.MAX_SAFE_INTEGER, place: 0, id: '' }; found.length < most; ) {
    const page = await pageNewestEvents(store, row.tenant_id, before, PAGE)
    const ofType = page.filter(({ type }) => glob.matches(type))
    found.push(
      ...(filter
        ? await passing(store, row.tenant_id, ofType, filter, most - found.length, pause)
        : ofType.map(({ id }) => id)),
    )
    const last = page.at(-1)
    if (!last || page.length < PAGE) break
    before = last
    await pause() // a long history is read in many short turns
  }
  return found.slice(0, most)
}

/**
 * Delivers the matching events that the agent was not sent yet. `record` writes the record of the response in the same
 * transaction.
 */
export async function backfill(
  { store, makeId, wakeups, activity, backfillSteps, now }: BackfillTools,
  row: InterestRow,
  most: number,
  record: (tx: Db) => Promise<void>,
): Promise<void> {
  const { tenant_id: tenantId, agent_id: recipientId } = row
  const history = await matchingEvents(store, row, most, () => backfillSteps.take(tenantId, recipientId))
  await store.tx(async (tx) => {
    const at = now()
    // One backfill of an agent at a time, so that no other one sends the same events.
    const agent = await lockAgent(tx, tenantId, recipientId)
    if (agent?.status !== 'active')
      throw ruleBroken('agent_inactive', 'An inactive agent receives no event', { agent_id: recipientId })
    // The interest may have been deleted since it was made, and retention may have emptied events since they were read.
    const retained = (await holdInterest(tx, row)) ? await holdRetained(tx, tenantId, history) : new Set<string>()
    const sent = await eventsSentTo(tx, { tenantId, recipientId }, history)
    const deliveries = history
      .filter((id) => retained.has(id) && !sent.has(id))
      .reverse()
      .map(
        (eventId): NewDeliveryRow => ({
          tenant_id: tenantId,
          recipient_id: recipientId,
          id: makeId('delivery'),
          event_id: eventId,
          priority: row.priority,
          enrichment: row.enrichment_depth,
          matched: row.id,
          created_at: at,
        }),
      )
    await insertDeliveries(tx, deliveries)
    meter(tx, at, [[tenantId, 'deliveries', deliveries.length]])
    activity.countLater(tx, tenantId, 'deliveries', deliveries.length)
    if (deliveries.length > 0) tx.afterCommit(() => wakeups.wake([recipientId]))
    await record(tx)
  })
}
