// One memory as the caller sees it, or not found; and the same for whoever wants to change it.
import { isId } from '@sensorium/contract'
import type { Principal } from '../auth/principal.ts'
import { notFound, ruleBroken } from '../kernel/failure.ts'
import type { Db } from '../store/db.ts'
import { mayAdminister } from './see.ts'
import { findSeenMemory, lockSeenMemory, touchSeenMemory, type MemoryRow } from './sql.ts'

type Find = typeof findSeenMemory

async function find(db: Db, principal: Principal, id: string, now: number, by: Find): Promise<MemoryRow> {
  const row = isId('memory', id) ? await by(db, principal, id, now) : undefined
  if (!row) throw notFound('memory', id)
  return row
}

export const requireMemory = (db: Db, principal: Principal, id: string, now: number): Promise<MemoryRow> =>
  find(db, principal, id, now, findSeenMemory)

/** Fetching a memory is what moves its accessed_at, so this needs a transaction. */
export const getMemory = (tx: Db, principal: Principal, id: string, now: number): Promise<MemoryRow> =>
  find(tx, principal, id, now, touchSeenMemory)

/** The memory of a caller who may change it, held until the transaction ends. */
export async function holdMemory(tx: Db, principal: Principal, id: string, now: number): Promise<MemoryRow> {
  const row = await find(tx, principal, id, now, lockSeenMemory)
  if (!mayAdminister(principal, row)) {
    throw ruleBroken('not_owner', 'Only its owner or an org-admin may do this with a memory', { memory_id: id })
  }
  return row
}
