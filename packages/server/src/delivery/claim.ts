// Claims what is due in a mailbox, and waits for it if asked to. The result is the JSON of the deliveries: an envelope
// is stored as the text that was received, and is delivered as that text.
//
// 1. A claimed delivery is leased: nobody else gets it until the lease lapses or is given back.
// 2. An empty mailbox costs one read and no transaction.
// 3. A delivery for a sleeping poll is handed to it by the transaction that creates the delivery (handover.ts).
// 4. A lease's time is read inside its transaction: the clock may step between two transactions (move-with-clock.ts).
import type { Activity } from '../activity/activity.ts'
import { iso, type Clock } from '../kernel/clock.ts'
import { SHORT_LENGTH } from '../kernel/lengths.ts'
import type { Logger } from '../kernel/logger.ts'
import type { Siblings } from '../kernel/shared-places.ts'
import { makeStepTurns, type Pause } from '../kernel/step-turns.ts'
import type { Db, Store } from '../store/db.ts'
import { makeClaimTogether, resultAfterCommit } from './claim-together.ts'
import type { ClaimedDelivery, Leased, LeasedDelivery, Look, WaitForDeliveries } from './claimed.ts'
import { makeCrowds } from './crowded.ts'
import type { Handover } from './handover.ts'
import type { PolicyOf } from './policy.ts'
import { makeOfferPlace, type OfferPlace } from './offer-place.ts'
import { makePollNotes } from './poll-notes.ts'
import { leasesOf, makePutBack, type PutBack } from './put-back.ts'
import { claimRows, inDeliveryOrder, isSomethingDue, type ClaimedRow, type Stretch } from './claim-sql.ts'
import { notePollAlone, readPayload, type Mailbox } from './sql.ts'
import { makeWaiting } from './wait.ts'
import type { Wakeups } from './wake.ts'

interface ClaimTools {
  store: Store
  clock: Clock
  wakeups: Wakeups
  handover: Handover
  policyOf: PolicyOf
  enrich: Enrich
  activity: Activity
  siblings: Siblings
  log: Logger
}

export interface ToEnrich {
  id: string
  eventId: string
  depth: 'light' | 'full'
  /** Null if the envelope is long and has to be read separately. */
  envelope: string | null
}

/**
 * Returns the blocks to add to the payloads of deliveries that are delivered for the first time, by delivery id, as
 * JSON text. Never rejects.
 */
export type Enrich = (mailbox: Mailbox, deliveries: readonly ToEnrich[]) => Promise<ReadonlyMap<string, string>>

export interface Claim {
  (mailbox: Mailbox, limit: number): Promise<ClaimedDelivery[]>
  /**
   * The same, waiting up to `waitMs` for something to be due. `checkCaller` is called before each further look, and
   * ends the wait by throwing.
   */
  waiting: WaitForDeliveries
  /**
   * Offers a place for up to `limit` deliveries to the publishes that follow, for a receiver that has taken all that
   * was due. `handed` is called once something was handed over.
   */
  offer: OfferPlace
  putBack: PutBack
  /** When this node last polled the mailbox; the store may not have this time yet. */
  lastPoll(mailbox: Mailbox): number | null
  /**
   * Claims from several mailboxes in one transaction, each with a lease of at least `leaseMs`. `admit` decides in that
   * transaction whether a mailbox is still served; null skips the mailbox.
   */
  many<T>(
    wanted: readonly MailboxClaim[],
    leaseMs: number,
    admit: (tx: Db, mailbox: Mailbox, now: number) => Promise<T | null>,
  ): Promise<Served<T>[]>
}

interface MailboxClaim {
  mailbox: Mailbox
  limit: number
}

interface Served<T> {
  admitted: T | null
  deliveries: LeasedDelivery[]
}

// The envelope is the text of a non-empty object: the block is inserted before its last brace.
const withEnrichment = (envelope: string, block: string | null | undefined): string =>
  block ? `${envelope.slice(0, envelope.lastIndexOf('}'))},"enrichment":${block}}` : envelope

// `{"id":…,"payload":<the envelope's own text>,…}`: an envelope of some kilobytes is neither parsed nor written again.
const deliveryJson = (row: ClaimedRow, envelope: string): string =>
  `{"id":"${row.id}","event_id":${JSON.stringify(row.event_id)},"payload":${envelope},"attempt_count":${row.attempts},"created_at":"${iso(row.created_at)}"}`

const NOTHING = async (): Promise<ClaimedRow[]> => []

// Runs after the transaction: the lease is taken, and only the caller that asked for enrichment waits for its search.
async function withPayloads(
  { store, enrich }: Pick<ClaimTools, 'store' | 'enrich'>,
  mailbox: Mailbox,
  rows: ClaimedRow[],
): Promise<ClaimedDelivery[]> {
  // `returning` has no order of its own.
  rows.sort(inDeliveryOrder)
  const missing = rows.flatMap(({ id, event_id, is_enriched, enrichment, envelope }): ToEnrich[] =>
    !is_enriched && (enrichment === 'light' || enrichment === 'full')
      ? [{ id, eventId: event_id, depth: enrichment, envelope }]
      : [],
  )
  const blocks = missing.length > 0 ? await enrich(mailbox, missing) : null

  async function readLong(row: ClaimedRow): Promise<string | undefined> {
    const payload = await readPayload(store, mailbox, row.id)
    return payload?.envelope ? deliveryJson(row, withEnrichment(payload.envelope, payload.enriched)) : undefined
  }

  return rows.map((row): ClaimedDelivery => {
    const lease = { id: row.id, lease: row.leases, until: row.due_at }
    const block = row.enriched ?? blocks?.get(row.id)
    const isLong = row.envelope === null || (block === undefined && row.is_enriched)
    if (isLong || (block?.length ?? 0) > SHORT_LENGTH) return { ...lease, json: () => readLong(row) }
    return { ...lease, json: deliveryJson(row, withEnrichment(row.envelope!, block)) }
  })
}

/**
 * Reads long payloads one after the other, one in a turn of the event loop. A delivery whose payload is gone meanwhile
 * is left out.
 */
async function wholeDeliveries(claimed: readonly ClaimedDelivery[], pause: Pause): Promise<LeasedDelivery[]> {
  const whole: LeasedDelivery[] = []
  for (const delivery of claimed) {
    if (typeof delivery.json !== 'string') await pause()
    const json = typeof delivery.json === 'string' ? delivery.json : await delivery.json()
    if (json !== undefined) whole.push({ ...delivery, json })
  }
  return whole
}

export function makeClaim(tools: ClaimTools): Claim {
  const { store, clock, wakeups, handover, policyOf, enrich, activity, siblings, log } = tools
  const notes = makePollNotes()
  const crowds = makeCrowds(store, clock)
  const longReads = makeStepTurns()
  const putBack = makePutBack(store, wakeups, log)
  const claimTogether = makeClaimTogether(store, clock, handover, putBack)
  wakeups.watch(notes.changed)

  /**
   * A claim that waited in the database has used up a part of its lease. With less than half of it left the deliveries
   * are put back: others might get them while their receiver is still at work.
   */
  async function handOut(mailbox: Mailbox, { rows, until }: Leased, leaseMs: number): Promise<ClaimedDelivery[]> {
    let lapsed = 0
    for (const row of rows) lapsed += row.lapsed
    activity.count(mailbox.tenantId, 'failures', lapsed)
    crowds.looked(mailbox, rows.length)
    if (rows.length > 0 && until - clock.now() < leaseMs / 2) {
      await putBack(mailbox, leasesOf(rows))
      return []
    }
    return withPayloads({ store, enrich }, mailbox, rows)
  }

  async function take(mailbox: Mailbox, limit: number, look: Look): Promise<ClaimedDelivery[]> {
    const now = clock.now()
    const { note, isToWrite } = notes.polled(mailbox, now)
    const mustLook = look === 'always' || (look === 'unless_known' && !note.mayHaveMore)
    // Undefined: the claim takes from the whole mailbox. Null: nothing is ready.
    const stretch = crowds.isCrowded(mailbox) ? await crowds.firstReady(mailbox, now) : undefined
    if (stretch === null || (!stretch && mustLook && !(await isSomethingDue(store, mailbox, now)))) {
      crowds.looked(mailbox, 0)
      if (isToWrite) notePollAlone(store, mailbox, now)
      return []
    }
    const { changes } = note
    const policy = policyOf(mailbox.tenantId)
    const leased = await claimTogether({ mailbox, limit, policy, isNoted: isToWrite, stretch })
    if (leased.rows.length < limit && !stretch) notes.tookAll(note, changes, leased.until, clock.elapsed())
    else note.mayHaveMore = true
    return handOut(mailbox, leased, policy.visibilityTimeoutMs)
  }

  const many: Claim['many'] = async (wanted, leaseMs, admit) => {
    const stretches = new Map<Mailbox, Stretch | null>()
    for (const { mailbox } of wanted)
      if (crowds.isCrowded(mailbox)) stretches.set(mailbox, await crowds.firstReady(mailbox, clock.now()))
    // In parallel: on PostgreSQL the statements of all mailboxes go out together, step by step.
    const served = await store.tx((tx) => {
      const now = clock.now()
      return Promise.all(
        wanted.map(async ({ mailbox, limit }) => {
          const { visibilityTimeoutMs, maxAttempts } = policyOf(mailbox.tenantId)
          const ms = Math.max(leaseMs, visibilityTimeoutMs)
          const until = now + ms
          const admitted = await admit(tx, mailbox, now)
          const stretch = stretches.get(mailbox)
          const leased =
            admitted === null || stretch === null
              ? NOTHING
              : resultAfterCommit(claimRows(tx, mailbox, limit, until, now, maxAttempts, stretch))
          return { mailbox, admitted, ms, until, leased }
        }),
      )
    })
    return Promise.all(
      served.map(async ({ mailbox, admitted, ms, until, leased }) => {
        const claimed = await handOut(mailbox, { rows: await leased(), until }, ms)
        const pause = (): Promise<void> => longReads.take(mailbox.tenantId, mailbox.recipientId)
        return { admitted, deliveries: await wholeDeliveries(claimed, pause) }
      }),
    )
  }

  const handOutNow = (mailbox: Mailbox, leased: Leased) =>
    handOut(mailbox, leased, policyOf(mailbox.tenantId).visibilityTimeoutMs)
  const offer = makeOfferPlace({ store, clock, handover, notes, handOut: handOutNow })
  const waiting = makeWaiting({
    ...{ store, clock, wakeups, handover, notes, putBack, siblings, take },
    handOut: handOutNow,
  })
  const claim = (mailbox: Mailbox, limit: number) => take(mailbox, limit, 'unless_known')
  return Object.assign(claim, { many, waiting, offer, putBack, lastPoll: notes.lastPoll })
}
