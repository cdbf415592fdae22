// Lists the memories a caller sees, newest first; with `search`, those whose title or content contains it as a
// substring. Deleted or expired memories are listed for their owner and org-admins when they ask for that status.
import type { MemoryScope, MemoryStatus, MemoryType } from '@sensorium/contract'
import type { Principal } from '../auth/principal.ts'
import type { JsonBody } from '../kernel/json-body.ts'
import type { Pause } from '../kernel/step-turns.ts'
import type { Db } from '../store/db.ts'
import type { FindText } from './index/memory-index.ts'
import { pageMemories } from './page-memories.ts'
import { allOf, disjointGone, disjointSeenBy, goneCondition, narrowed, seenBy, type Condition } from './see.ts'
import { listMemoriesById } from './sql.ts'
import { jsonBody, type Reading } from './wire.ts'

interface MemoryQuery {
  offset?: number
  limit?: number
  type?: MemoryType
  scope?: MemoryScope
  search?: string
  project_id?: string
  status?: MemoryStatus
  created_after?: string
  created_before?: string
}

/** The filters of a list, apart from scope and visibility. Each column of them is in the indexes of `memories`. */
function filtersOf({ type, project_id, created_after, created_before }: MemoryQuery): Condition[] {
  const filters: Condition[] = []
  if (type !== undefined) filters.push({ sql: 'm.type = ?', values: [type] })
  if (project_id !== undefined) filters.push({ sql: 'm.project_id = ?', values: [project_id] })
  if (created_after !== undefined) filters.push({ sql: 'm.created_at > ?', values: [Date.parse(created_after)] })
  if (created_before !== undefined) filters.push({ sql: 'm.created_at < ?', values: [Date.parse(created_before)] })
  return filters
}

export async function listMemories(
  db: Db,
  findText: FindText,
  principal: Principal,
  query: MemoryQuery,
  { now, isBrief, pause }: Reading & { pause: Pause },
): Promise<JsonBody> {
  const { offset = 0, limit = 50, scope, search = '', status = 'active' } = query
  const filters = filtersOf(query)
  const ofScope: Condition[] = scope === undefined ? [] : [{ sql: 'm.scope = ?', values: [scope] }]
  const gone = status === 'active' ? [] : disjointGone(principal, status, now).map((way) => narrowed(way, ...ofScope))
  const seen = status === 'active' ? seenBy(principal, now) : goneCondition(principal, status, now)

  async function page() {
    // Every text contains the empty string.
    if (search === '') {
      const ways = status === 'active' ? disjointSeenBy(principal, now, scope) : gone
      const wanted = ways.map((way) => narrowed(way, ...filters))
      return pageMemories(db, principal.tenantId, wanted, offset, limit, pause)
    }
    const lists: string[][] = []
    for (const way of status === 'active' ? [allOf(seen, ...ofScope)] : gone)
      lists.push(await findText(principal, search, allOf(way, ...filters), status !== 'active'))
    // A sweep may have written down an expiry between two looks, so an id can be in both lists.
    const found = lists.length === 1 ? lists[0]! : [...new Set(lists.flat())].sort().reverse()
    return { rows: await listMemoriesById(db, seen, found.slice(offset, offset + limit)), total: found.length }
  }

  const { rows, total } = await page()
  const response = {
    open: '{"memories":[',
    // A memory past its expiry has expired, whether or not a sweep has written it down.
    items: rows.map((memory) => ({ memory: { ...memory, status } })),
    close: () => `],"total":${total}}`,
    isBrief,
  }
  return jsonBody(db, db, seen, response)
}
