// The memories a caller sees, newest first; with `search`, those that hold it as one substring of their title or
// content.
import type { Memory, MemoryScope, MemoryType } from '@sensorium/contract'
import type { Principal } from '../auth/principal.ts'
import type { Db } from '../store/db.ts'
import { both, seenBy, waysToSee, type Condition } from './see.ts'
import { pageFoundMemories, pageMemories, shownMemory } from './sql.ts'
import { holdsText } from './substring.ts'

export interface MemoryQuery {
  offset?: number
  limit?: number
  type?: MemoryType
  scope?: MemoryScope
  search?: string
}

export async function listMemories(
  db: Db,
  principal: Principal,
  { offset = 0, limit = 50, type, scope, search = '' }: MemoryQuery,
  now: number,
): Promise<{ memories: Memory[]; total: number }> {
  const ofType: Condition[] = type === undefined ? [] : [{ sql: 'm.type = ?', values: [type] }]
  const ofScope: Condition[] = scope === undefined ? [] : [{ sql: 'm.scope = ?', values: [scope] }]
  const { tenantId } = principal
  // Every text holds the empty one.
  const { rows, total } =
    search === ''
      ? await pageMemories(
          db,
          tenantId,
          waysToSee(principal, now, scope).map((way) => both(way, ...ofType)),
          offset,
          limit,
        )
      : await pageFoundMemories(
          db,
          tenantId,
          both(seenBy(principal, now), ...ofType, ...ofScope),
          holdsText(db, principal, search),
          offset,
          limit,
        )
  return { memories: rows.map(shownMemory), total }
}
