// Walks the relationships of a memory, breadth first, in one query.
//
// 1. At depth 1 every relationship is an item, parallel ones too; deeper, a memory appears once: at its shortest depth
//    and, among the paths of that length, by the strongest. The start is never listed.
// 2. A step leads only to a memory that the viewer sees, so no path goes through one that it does not.
// 3. Nearest first, then strongest, then by the ids of the memory and the relationship; at most MAX_TRAVERSED.
//
// Three levels at most, so they are written out one after the other. A recursive query can neither group nor look at
// what it has found already, and would walk a dense graph path by path; here a level starts from each memory of the one
// before once. A level is walked only while there is room in the result, so none starts from MAX_TRAVERSED memories or
// more; and if those few have more than MAX_WALKED relationships between them, it looks at that many and lets the rest
// be. Every join is a cross join: SQLite then takes the tables in the order they are written, from what was found to
// what it leads to.
import { MAX_TRAVERSAL_DEPTH, MAX_TRAVERSED, type Direction } from '@sensorium/contract'
import type { Principal } from '../auth/principal.ts'
import type { Db, Value } from '../store/db.ts'
import { requireMemory } from './get.ts'
import { seenBy, type Viewer } from './see.ts'
import { findRelationship, listedColumns, type ListedMemory, type RelationshipRow } from './sql.ts'
import { jsonBody, relationshipJson, type JsonBody } from './wire.ts'

const ENDS = {
  out: [['source_memory_id', 'target_memory_id']],
  in: [['target_memory_id', 'source_memory_id']],
  both: [
    ['source_memory_id', 'target_memory_id'],
    ['target_memory_id', 'source_memory_id'],
  ],
} as const

/** A level past this would hold up everybody else: 200,000 take about a tenth of a second. */
const MAX_WALKED = 200_000

interface Sql {
  text: string[]
  values: Value[]
}

// PostgreSQL refuses a product that is too small for a number. A factor this small counts as nothing on both engines.
const PRODUCT = 'case when f.strength < 1e-100 or r.strength < 1e-100 then 0 else f.strength * r.strength end'

/** `found1`: each relationship of the start, with the memory it leads to. */
function firstLevel(sql: Sql, viewer: Viewer, startId: string, direction: Direction, now: number): void {
  const seen = seenBy(viewer, now)
  const steps = ENDS[direction].map(([from, to]) => {
    sql.values.push(viewer.tenantId, startId)
    return `select r.id as relationship_id, r.${to} as memory_id, r.strength from memory_relationships r where r.tenant_id = ? and r.${from} = ?`
  })
  sql.text.push(`found1 as materialized (
    select s.relationship_id, s.memory_id, s.strength, 1 as depth from (${steps.join(' union all ')}) s
      cross join memories m where m.id = s.memory_id and ${seen.sql}
     order by s.strength desc, s.memory_id, s.relationship_id limit ${MAX_TRAVERSED})`)
  sql.values.push(...seen.values)
}

/** `found<depth>`: the memories one step beyond, each by the strongest way to it. */
function nextLevel(sql: Sql, viewer: Viewer, startId: string, direction: Direction, depth: number, now: number): void {
  const before = Array.from({ length: depth - 1 }, (_, i) => `found${i + 1}`)
  const seen = seenBy(viewer, now)
  const steps = ENDS[direction].map(([from, to]) => {
    sql.values.push(viewer.tenantId)
    return `select * from (
      select r.id as relationship_id, r.${to} as memory_id, ${PRODUCT} as strength
        from (select memory_id, max(strength) as strength from found${depth - 1}
               where ${before.map((found) => `(select count(*) from ${found})`).join(' + ')} < ${MAX_TRAVERSED} group by memory_id) f
       cross join memory_relationships r where r.tenant_id = ? and r.${from} = f.memory_id limit ${MAX_WALKED}) ${to}`
  })
  sql.text.push(`ways${depth} as (
    select relationship_id, memory_id, strength, row_number() over (partition by memory_id order by strength desc, relationship_id) as place
      from (${steps.join(' union all ')}) s
     where memory_id <> ? and ${before.map((found) => `memory_id not in (select memory_id from ${found})`).join(' and ')})`)
  sql.text.push(`found${depth} as materialized (
    select w.relationship_id, w.memory_id, w.strength, ${depth} as depth from ways${depth} w
      cross join memories m where m.id = w.memory_id and w.place = 1 and ${seen.sql}
     order by w.strength desc, w.memory_id limit ${MAX_TRAVERSED})`)
  sql.values.push(startId, ...seen.values)
}

/** A memory that was reached. */
export interface Reached {
  relationship: Omit<RelationshipRow, 'created_by'>
  /** Of the relationship's metadata, which is null where it is long and is read when its turn comes. */
  metadataBytes: number
  memory: ListedMemory
  depth: number
  strength: number
}

interface ReachedRow extends ListedMemory {
  relationship_id: string
  source_memory_id: string
  target_memory_id: string
  relationship_type: RelationshipRow['relationship_type']
  relationship_strength: number
  relationship_metadata: string | null
  metadata_bytes: number
  related_at: number
  depth: number
  cumulative: number
}

/** Metadata of a relationship up to this many bytes comes with the traversal. */
const SHORT_METADATA = 1_000

/** The memories that a viewer reaches from one it sees. Depth is 1 to MAX_TRAVERSAL_DEPTH. */
export async function reachedFrom(
  db: Db,
  viewer: Viewer,
  startId: string,
  depth: number,
  direction: Direction,
  now: number,
): Promise<Reached[]> {
  const sql: Sql = { text: [], values: [] }
  firstLevel(sql, viewer, startId, direction, now)
  for (let level = 2; level <= depth; level++) nextLevel(sql, viewer, startId, direction, level, now)
  const levels = Array.from({ length: depth }, (_, i) => `select * from found${i + 1}`)
  const rows = await db.rows<ReachedRow>(
    `with ${sql.text.join(',\n')},
     chosen as materialized (
       select * from (${levels.join(' union all ')}) a order by depth, strength desc, memory_id, relationship_id limit ${MAX_TRAVERSED})
     select c.depth, c.strength as cumulative, c.relationship_id, r.source_memory_id, r.target_memory_id, r.relationship_type,
            r.strength as relationship_strength, coalesce(octet_length(r.metadata), 0) as metadata_bytes,
            case when octet_length(r.metadata) <= ${SHORT_METADATA} then r.metadata end as relationship_metadata,
            r.created_at as related_at, ${listedColumns('m')}
       from chosen c
      cross join memory_relationships r
      cross join memories m
      where r.tenant_id = ? and r.id = c.relationship_id and m.tenant_id = ? and m.id = c.memory_id
      order by c.depth, c.strength desc, c.memory_id, c.relationship_id`,
    [...sql.values, viewer.tenantId, viewer.tenantId],
  )
  return rows.map((row) => ({
    relationship: {
      tenant_id: row.tenant_id,
      id: row.relationship_id,
      source_memory_id: row.source_memory_id,
      target_memory_id: row.target_memory_id,
      relationship_type: row.relationship_type,
      strength: row.relationship_strength,
      metadata: row.relationship_metadata,
      created_at: row.related_at,
    },
    metadataBytes: row.metadata_bytes,
    memory: row,
    depth: row.depth,
    strength: row.cumulative,
  }))
}

/** The relationship as JSON, its long metadata read now. */
async function wholeRelationship(db: Db, { relationship, metadataBytes }: Reached): Promise<string> {
  if (metadataBytes <= SHORT_METADATA) return relationshipJson(relationship)
  const { tenant_id, source_memory_id, id } = relationship
  return relationshipJson((await findRelationship(db, tenant_id, source_memory_id, id)) ?? relationship)
}

export async function traverse(
  db: Db,
  principal: Principal,
  id: string,
  query: { depth?: number; direction?: Direction },
  now: number,
  isBrief = false,
): Promise<JsonBody> {
  await requireMemory(db, principal, id, now)
  const depth = Math.min(MAX_TRAVERSAL_DEPTH, Math.max(1, query.depth ?? 1))
  const reached = await reachedFrom(db, principal, id, depth, query.direction ?? 'out', now)
  const relationship = (one: Reached) => (isBrief ? relationshipJson(one.relationship) : wholeRelationship(db, one))
  const response = {
    open: '{"relationships":[',
    items: reached.map((one) => ({
      memory: one.memory,
      more: one.metadataBytes,
      before: async () => `{"relationship":${await relationship(one)},"memory":`,
      after: `,"depth":${one.depth},"cumulative_strength":${one.strength}}`,
    })),
    close: (count: number) => `],"count":${count}}`,
  }
  return jsonBody(db, db, seenBy(principal, now), response, isBrief)
}
