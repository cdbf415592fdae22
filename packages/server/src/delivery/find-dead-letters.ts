// Finds dead letters by what they have in common, newest first. No index covers a pattern or a part of a reason, so the
// dead letters of a mailbox or a tenant are scanned without their payloads, a page in each turn. An agent chooses its
// reasons, of up to 4 KB, so they are read only if they are needed, and only those of one page are in memory.
import { indexOfLinear } from '@sensorium/cel'
import type { Pause } from '../kernel/step-turns.ts'
import { compileGlob } from '../routing/glob.ts'
import type { Db, Reads } from '../store/db.ts'
import { deliveryIds } from './sql.ts'
import { IN_DEAD_INDEX, IS_DEAD } from './standing.ts'

/** Whose dead letters are meant: one recipient's, or the whole tenant's. */
export interface DeadLetterScope {
  tenantId: string
  recipientId: string | null
}

export interface DeadLetterFilter {
  event_type?: string
  agent_id?: string
  reason?: string
  since?: string
  until?: string
}

/** A place in the order of dead letters, newest first. */
export interface DeadLetterPlace {
  dead_lettered_at: number
  id: string
}

/** What is kept of a dead letter that was found: thousands of them may be. */
export interface FoundDeadLetter extends DeadLetterPlace {
  event_id: string
  /** The size of the event's envelope. */
  bytes: number
}

export interface ScannedDeadLetter extends FoundDeadLetter {
  recipient_id: string
  /** Empty if reasons are not read. */
  dlq_reason: string
  type: string
}

interface Scan {
  /** How many dead letters are scanned at most, in whole pages. */
  look: number
  /** Waits for the caller's turn, before each page. */
  pause: Pause
  after?: DeadLetterPlace
  /** The reasons are read even if the filter names none. */
  withReasons?: boolean
}

export const NEWEST: DeadLetterPlace = { dead_lettered_at: Number.MAX_SAFE_INTEGER, id: '' }

/** With the longest reasons a page takes SQLite some milliseconds; a thousand took 50 to 80. */
export const DEAD_PAGE = 200

const COLUMNS = 'd.id, d.event_id, d.recipient_id, d.dead_lettered_at, octet_length(e.envelope) as bytes'
const WITH_EVENT = 'join events e on e.tenant_id = d.tenant_id and e.id = d.event_id'

/** The dead letters of a scope as `d`, by the index of the tenant's or the recipient's. */
export function deadOf({ dialect }: Reads, { tenantId, recipientId }: DeadLetterScope) {
  const [index, whose, values] =
    recipientId === null
      ? ['deliveries_dead', 'd.tenant_id = ?', [tenantId]]
      : ['deliveries_dead_of_recipient', 'd.tenant_id = ? and d.recipient_id = ?', [tenantId, recipientId]]
  return {
    from: `deliveries d ${dialect.byIndex(index)}`,
    where: `${whose} and ${IN_DEAD_INDEX}`,
    values,
  }
}

/** Whether the filter has any condition at all. */
export const isFiltering = (filter: DeadLetterFilter): boolean =>
  Object.values(filter).some((value) => value !== undefined)

function passesOf({ event_type, reason }: DeadLetterFilter): (letter: ScannedDeadLetter) => boolean {
  const glob = event_type === undefined ? null : compileGlob(event_type)
  const part = reason?.toLowerCase()
  return (letter) =>
    (glob === null || glob.matches(letter.type)) &&
    (part === undefined || indexOfLinear(letter.dlq_reason.toLowerCase(), part) >= 0)
}

/** Narrows the scope to the agent that the filter names; null if the scope is another agent's. */
function narrowed(scope: DeadLetterScope, { agent_id }: DeadLetterFilter): DeadLetterScope | null {
  if (agent_id === undefined) return scope
  return scope.recipientId === null || scope.recipientId === agent_id ? { ...scope, recipientId: agent_id } : null
}

/** Returns a page of dead letters before a place in their order. Locks nothing. */
function pageDead(
  db: Db,
  scope: DeadLetterScope,
  before: DeadLetterPlace,
  since: number,
  withReasons: boolean,
): Promise<ScannedDeadLetter[]> {
  const { from, where, values } = deadOf(db, scope)
  return db.rows<ScannedDeadLetter>(
    `select ${COLUMNS}, e.type, ${withReasons ? 'd.dlq_reason' : "'' as dlq_reason"} from ${from} ${WITH_EVENT}
      where ${where} and (d.dead_lettered_at, d.id) < (?, ?) and d.dead_lettered_at >= ?
      order by d.dead_lettered_at desc, d.id desc limit ?`,
    [...values, before.dead_lettered_at, before.id, since, DEAD_PAGE],
  )
}

/** Yields the dead letters that pass the filter, page by page, from `after` on if it is given. */
export async function* deadLetterPages(
  db: Db,
  scope: DeadLetterScope,
  filter: DeadLetterFilter,
  { look, pause, after, withReasons = filter.reason !== undefined }: Scan,
): AsyncGenerator<ScannedDeadLetter[]> {
  const whose = narrowed(scope, filter)
  if (whose === null) return
  const passes = passesOf(filter)
  const since = filter.since === undefined ? 0 : Date.parse(filter.since)
  const until = filter.until === undefined ? NEWEST : { dead_lettered_at: Date.parse(filter.until) + 1, id: '' }
  let before = after ?? until
  for (let looked = 0; looked < look; ) {
    await pause()
    const page = await pageDead(db, whose, before, since, withReasons)
    yield page.filter(passes)
    looked += page.length
    if (page.length < DEAD_PAGE) return
    before = page.at(-1)!
  }
}

/** Returns at most `most` of the dead letters that pass the filter. */
export async function findDeadLetters(
  db: Db,
  scope: DeadLetterScope,
  filter: DeadLetterFilter,
  most: number,
  scan: Scan,
): Promise<FoundDeadLetter[]> {
  const found: FoundDeadLetter[] = []
  for await (const letters of deadLetterPages(db, scope, filter, scan)) {
    for (const { dead_lettered_at, id, event_id, bytes } of letters.slice(0, most - found.length))
      found.push({ dead_lettered_at, id, event_id, bytes })
    if (found.length === most) break
  }
  return found
}

/** Returns those of the given deliveries that are dead letters of the scope, newest first, from `after` on. */
export async function namedDeadLetters(
  db: Db,
  { tenantId, recipientId }: DeadLetterScope,
  ids: readonly string[],
  after = NEWEST,
): Promise<FoundDeadLetter[]> {
  const rows = await db.rows<FoundDeadLetter & { recipient_id: string }>(
    `select ${COLUMNS} from deliveries d ${WITH_EVENT}
      where d.tenant_id = ? and ${db.dialect.inList('d.id')} and d.${IS_DEAD} and (d.dead_lettered_at, d.id) < (?, ?)
      order by d.dead_lettered_at desc, d.id desc`,
    [tenantId, db.dialect.list(deliveryIds(ids)), after.dead_lettered_at, after.id],
  )
  return rows.filter((row) => recipientId === null || row.recipient_id === recipientId)
}
