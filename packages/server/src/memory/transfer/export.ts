// Exports all that a caller sees, a line of JSON each: the memories, oldest first, then the relationships between them.
// The text is generated while it is read, a page at a time: a page costs the same whatever else the tenant holds.
import type { Principal } from '../../auth/principal.ts'
import { firstIdAt } from '../../kernel/ids.ts'
import { pagesOf } from '../../kernel/row-pages.ts'
import { one, type Db } from '../../store/db.ts'
import { allOf, seenBy, disjointSeenBy, type Condition } from '../see.ts'
import type { RelationshipRow } from '../relationships-sql.ts'
import { listMemoriesById } from '../sql.ts'
import { piecesOf, relationshipJson } from '../wire.ts'

/** Relationships that are read at once. */
const RELATIONSHIPS = 500
/** Longer metadata of a relationship is read when its line is written. */
const SHORT_METADATA = 1_000

interface ExportQuery {
  /**
   * In milliseconds: only memories changed or imported since then, and relationships that were changed or have an end
   * that was. With a change, the caller may have begun to see a memory, or relationships have moved to it in a merge.
   */
  since: number | null
  now: number
}

/**
 * Whether a memory was changed or made here since a time. One that was imported keeps the time of its last change
 * elsewhere, but its id was made here.
 */
const changedSince = (m: string, since: number): Condition => ({
  sql: `(${m}.updated_at >= ? or ${m}.id >= ?)`,
  values: [since, firstIdAt('memory', since)],
})

/** Yields the ids of the memories that the caller sees, a page at a time, in ascending order. */
async function* idPages(db: Db, principal: Principal, now: number): AsyncGenerator<string[]> {
  const ways = disjointSeenBy(principal, now, undefined)
  const parts = ways.map(({ sql }) => `select m.id from memories m where ${sql} and m.id > ?`)
  const pages = pagesOf<{ id: string }>((last, most) =>
    // The next ids of memories that the caller sees, from indexes.
    db.rows(`${parts.join(' union all ')} order by id limit ?`, [
      ...ways.flatMap(({ values }) => [...values, last?.id ?? '']),
      most,
    ]),
  )
  for await (const rows of pages) yield rows.map(({ id }) => id)
}

async function* memoryLines(db: Db, principal: Principal, { since, now }: ExportQuery): AsyncGenerator<string> {
  const seen = seenBy(principal, now)
  const wanted = since === null ? seen : allOf(seen, changedSince('m', since))
  for await (const ids of idPages(db, principal, now)) {
    const items = (await listMemoriesById(db, wanted, ids)).map((memory) => ({ memory }))
    yield* piecesOf(db, wanted, { open: '', items, between: '\n', close: (count) => (count > 0 ? '\n' : '') })
  }
}

type ListedRelationship = Omit<RelationshipRow, 'created_by'> & { long: number }

function list(db: Db, { since, now }: ExportQuery, principal: Principal, which: Condition, order: string) {
  const target = seenBy(principal, now)
  const end = since === null ? null : changedSince('c', since)
  const fresh: Condition =
    end === null
      ? { sql: '1 = 1', values: [] }
      : {
          sql: `(coalesce(r.changed_at, r.created_at) >= ?
                 or exists (select 1 from memories c where c.tenant_id = ? and ${end.sql}
                      and c.id in (r.source_memory_id, r.target_memory_id)))`,
          values: [since, principal.tenantId, ...end.values],
        }
  // Relationships that meet a condition on `r` and whose target the caller sees; long metadata is left out.
  return db.rows<ListedRelationship>(
    `select r.tenant_id, r.id, r.source_memory_id, r.target_memory_id, r.relationship_type, r.strength, r.created_at,
            case when octet_length(r.metadata) <= ${SHORT_METADATA} then r.metadata end as metadata,
            case when octet_length(r.metadata) > ${SHORT_METADATA} then 1 else 0 end as long
       from memory_relationships r
      where r.tenant_id = ? and ${which.sql} and ${fresh.sql}
        and exists (select 1 from memories m where ${target.sql} and m.id = r.target_memory_id) ${order} limit ?`,
    [principal.tenantId, ...which.values, ...fresh.values, ...target.values, RELATIONSHIPS + 1],
  )
}

const placeOf = (row: ListedRelationship): string =>
  `${row.source_memory_id} ${row.target_memory_id} ${row.relationship_type}`

/** The order in which linesFrom reads relationships, so that an export is the same text on every store. */
const inOrder = (a: ListedRelationship, b: ListedRelationship): number => (placeOf(a) < placeOf(b) ? -1 : 1)

async function* linesOf(db: Db, rows: readonly ListedRelationship[]): AsyncGenerator<string> {
  for (const row of rows) {
    if (row.long === 0) {
      yield `${relationshipJson(row)}\n`
      continue
    }
    // The metadata of one relationship, if that still exists. It may be long, so `lookUp` is not used.
    const found = await one<{ metadata: string }>(
      db,
      'select metadata from memory_relationships where tenant_id = ? and id = ?',
      [row.tenant_id, row.id],
    )
    if (found) yield `${relationshipJson({ ...row, metadata: found.metadata })}\n`
  }
}

async function* relationshipLines(db: Db, principal: Principal, query: ExportQuery): AsyncGenerator<string> {
  for await (const ids of idPages(db, principal, query.now)) {
    const { inList, list: listed } = db.dialect
    const ofPage = { sql: inList('r.source_memory_id'), values: [listed(ids)] }
    const few = await list(db, query, principal, ofPage, '')
    if (few.length <= RELATIONSHIPS) {
      yield* linesOf(db, few.sort(inOrder))
      continue
    }
    // Too many to read at once: one memory after the other, in the order of an index.
    for (const id of ids) yield* linesFrom(db, principal, query, id)
  }
}

async function* linesFrom(db: Db, principal: Principal, query: ExportQuery, id: string): AsyncGenerator<string> {
  for (let last: readonly [string, string] = ['', '']; ; ) {
    const next = {
      sql: 'r.source_memory_id = ? and (r.target_memory_id, r.relationship_type) > (?, ?)',
      values: [id, ...last],
    }
    const rows = await list(db, query, principal, next, 'order by r.target_memory_id, r.relationship_type')
    yield* linesOf(db, rows)
    if (rows.length <= RELATIONSHIPS) return
    last = [rows.at(-1)!.target_memory_id, rows.at(-1)!.relationship_type]
  }
}

export async function* exportMemories(db: Db, principal: Principal, query: ExportQuery): AsyncGenerator<string> {
  yield* memoryLines(db, principal, query)
  yield* relationshipLines(db, principal, query)
}
