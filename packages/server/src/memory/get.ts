// Returns one memory, to be read or changed. A memory that the caller does not see is not found.
import { isId } from '@sensorium/contract'
import type { Principal } from '../auth/principal.ts'
import { notFound, ruleBroken } from '../kernel/failure.ts'
import type { Db } from '../store/db.ts'
import { mayAdminister } from './see.ts'
import {
  findSeenHead,
  findSeenMemory,
  lockSeenHead,
  lockSeenMemory,
  touchSeenMemory,
  type MemoryHead,
  type MemoryRow,
} from './sql.ts'

type Find<R> = (db: Db, principal: Principal, id: string, now: number) => Promise<R | undefined>

async function find<R>(db: Db, principal: Principal, id: string, now: number, by: Find<R>): Promise<R> {
  const row = isId('memory', id) ? await by(db, principal, id, now) : undefined
  if (!row) throw notFound('memory', id)
  return row
}

export const requireMemory = (db: Db, principal: Principal, id: string, now: number): Promise<MemoryRow> =>
  find(db, principal, id, now, findSeenMemory)

/** Like requireMemory, without reading the texts. */
export const requireHead = (db: Db, principal: Principal, id: string, now: number): Promise<MemoryHead> =>
  find(db, principal, id, now, findSeenHead)

/** Fetching a memory updates its accessed_at, so this needs a transaction. */
export const getMemory = (tx: Db, principal: Principal, id: string, now: number): Promise<MemoryRow> =>
  find(tx, principal, id, now, touchSeenMemory)

/** Throws unless the caller may change the memory. */
export function requireOwner(principal: Principal, head: MemoryHead): void {
  if (!mayAdminister(principal, head))
    throw ruleBroken('not_owner', 'Only its owner or an org-admin may do this with a memory', { memory_id: head.id })
}

async function hold<R extends MemoryHead>(tx: Db, principal: Principal, id: string, now: number, by: Find<R>) {
  const row = await find(tx, principal, id, now, by)
  requireOwner(principal, row)
  return row
}

/** Returns the head of a memory that the caller sees, locked until the transaction ends. */
export const lockHead = (tx: Db, principal: Principal, id: string, now: number): Promise<MemoryHead> =>
  find(tx, principal, id, now, lockSeenHead)

/** Returns a memory that the caller may change, locked until the transaction ends. Throws if the caller may not. */
export const holdMemory = (tx: Db, principal: Principal, id: string, now: number): Promise<MemoryRow> =>
  hold(tx, principal, id, now, lockSeenMemory)

/** Like holdMemory, without reading the texts, for callers that do not need them. */
export const holdHead = (tx: Db, principal: Principal, id: string, now: number): Promise<MemoryHead> =>
  hold(tx, principal, id, now, lockSeenHead)
