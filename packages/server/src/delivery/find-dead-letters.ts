// Finds dead letters by what they have in common, newest first. No index covers a pattern or a part of a reason, so the
// dead letters of a mailbox or a tenant are scanned without their payloads, a thousand in each turn.
import { indexOfLinear } from '@sensorium/cel'
import { isId } from '@sensorium/contract'
import { nextTurn } from '../kernel/step-turns.ts'
import { compileGlob } from '../routing/glob.ts'
import type { Db, Reads } from '../store/db.ts'
import { IS_DEAD } from './standing.ts'

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

export interface FoundDeadLetter {
  id: string
  event_id: string
  recipient_id: string
  dlq_reason: string
  dead_lettered_at: number
  type: string
  /** The size of the event's envelope. */
  bytes: number
}

/** A place in the order of dead letters, newest first. */
export type DeadLetterPlace = Pick<FoundDeadLetter, 'dead_lettered_at' | 'id'>

const NEWEST: DeadLetterPlace = { dead_lettered_at: Number.MAX_SAFE_INTEGER, id: '' }

const PAGE = 1_000

const COLUMNS =
  'd.id, d.event_id, d.recipient_id, d.dlq_reason, d.dead_lettered_at, e.type, octet_length(e.envelope) as bytes'
export const WITH_EVENT = 'join events e on e.tenant_id = d.tenant_id and e.id = d.event_id'

/** The dead letters of a scope as `d`, by the index of the tenant's or the recipient's. */
export function deadOf({ dialect }: Reads, { tenantId, recipientId }: DeadLetterScope) {
  const [index, whose, values] =
    recipientId === null
      ? ['deliveries_dead', 'd.tenant_id = ?', [tenantId]]
      : ['deliveries_dead_of_recipient', 'd.tenant_id = ? and d.recipient_id = ?', [tenantId, recipientId]]
  return {
    from: `deliveries d ${dialect.byIndex(index)}`,
    where: `${whose} and d.dead_lettered_at is not null`,
    values,
  }
}

/** Whether the filter has any condition at all. */
export const isFiltering = (filter: DeadLetterFilter): boolean =>
  Object.values(filter).some((value) => value !== undefined)

function passesOf({ event_type, reason }: DeadLetterFilter): (letter: FoundDeadLetter) => boolean {
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
function pageDead(db: Db, scope: DeadLetterScope, before: DeadLetterPlace, since: number): Promise<FoundDeadLetter[]> {
  const { from, where, values } = deadOf(db, scope)
  return db.rows<FoundDeadLetter>(
    `select ${COLUMNS} from ${from} ${WITH_EVENT}
      where ${where} and (d.dead_lettered_at, d.id) < (?, ?) and d.dead_lettered_at >= ?
      order by d.dead_lettered_at desc, d.id desc limit ?`,
    [...values, before.dead_lettered_at, before.id, since, PAGE],
  )
}

/**
 * Yields the dead letters that pass the filter, from `after` on if it is given. A page in each turn; scans no more than
 * `look`, in whole pages.
 */
export async function* deadLetterPages(
  db: Db,
  scope: DeadLetterScope,
  filter: DeadLetterFilter,
  look: number,
  after?: DeadLetterPlace,
): AsyncGenerator<FoundDeadLetter[]> {
  const whose = narrowed(scope, filter)
  if (whose === null) return
  const passes = passesOf(filter)
  const since = filter.since === undefined ? 0 : Date.parse(filter.since)
  const until = filter.until === undefined ? NEWEST : { dead_lettered_at: Date.parse(filter.until) + 1, id: '' }
  let before = after ?? until
  for (let looked = 0; looked < look; ) {
    const page = await pageDead(db, whose, before, since)
    yield page.filter(passes)
    looked += page.length
    if (page.length < PAGE) return
    before = page.at(-1)!
    await nextTurn()
  }
}

/** Returns at most `most` dead letters that pass the filter, from `after` on, scanning no more than `look`. */
export async function findDeadLetters(
  db: Db,
  scope: DeadLetterScope,
  filter: DeadLetterFilter,
  most: number,
  look: number,
  after?: DeadLetterPlace,
): Promise<FoundDeadLetter[]> {
  const found: FoundDeadLetter[] = []
  for await (const letters of deadLetterPages(db, scope, filter, look, after)) {
    found.push(...letters.slice(0, most - found.length))
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
  const known = [...new Set(ids)].filter((id) => isId('delivery', id))
  const rows = await db.rows<FoundDeadLetter>(
    `select ${COLUMNS} from deliveries d ${WITH_EVENT}
      where d.tenant_id = ? and ${db.dialect.inList('d.id')} and d.${IS_DEAD} and (d.dead_lettered_at, d.id) < (?, ?)
      order by d.dead_lettered_at desc, d.id desc`,
    [tenantId, db.dialect.list(known), after.dead_lettered_at, after.id],
  )
  return rows.filter((row) => recipientId === null || row.recipient_id === recipientId)
}
