// Walks the relationships of a memory, breadth first, level by level.
//
// 1. At depth 1 every relationship is an item, parallel ones too; deeper, a memory appears once: at its shortest depth
//    and, among the paths of that length, by the strongest. The start is never listed.
// 2. A step leads only to a memory that the viewer sees, so no path goes through a memory that the viewer does not see.
// 3. Nearest first, then strongest, then by the ids of the memory and the relationship; at most MAX_TRAVERSED.
//
// A level starts once from each memory of the level before, so a dense graph is not walked path by path. A level is
// walked only while the result has room, so none starts from MAX_TRAVERSED memories or more. If these have more than
// MAX_WALKED relationships between them, only that many are looked at. One query for all levels was as fast, but takes
// one turn of the event loop however large the graph is.
import { MAX_TRAVERSAL_DEPTH, MAX_TRAVERSED, type Direction } from '@sensorium/contract'
import type { Principal } from '../auth/principal.ts'
import type { JsonBody } from '../kernel/json-body.ts'
import type { Pause } from '../kernel/step-turns.ts'
import type { Db } from '../store/db.ts'
import { requireHead } from './get.ts'
import { findRelationship, type RelationshipRow } from './relationships-sql.ts'
import { seenBy, type Viewer } from './see.ts'
import { listMemoriesById, type ListedMemory } from './sql.ts'
import { makePace, PAGE, waysFrom, type Way } from './walk.ts'
import { jsonBody, relationshipJson, type Reading } from './wire.ts'

/** Relationships looked at in a level: more would take seconds of everybody's turns. */
const MAX_WALKED = 200_000
/** Items whose rows are read together: up to 5 kB each. */
const SHOWN = 250

/** A memory that was reached. */
export interface Reached {
  relationship: Omit<RelationshipRow, 'created_by'>
  /** The length of the relationship's metadata. Long metadata is null here, and is read when the item is written. */
  metadataBytes: number
  memory: ListedMemory
  depth: number
  strength: number
}

/** Metadata of a relationship up to this many bytes comes with the traversal. */
const SHORT_METADATA = 1_000

type Relationship = Reached['relationship']
type Step = Way & { depth: number }

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
const inOrder = (a: Way, b: Way): number =>
  b.strength - a.strength || compare(a.memoryId, b.memoryId) || compare(a.relationshipId, b.relationshipId)

/**
 * Collects ways and keeps the first MAX_TRAVERSED, with the strongest for each memory or each relationship. It never
 * holds more than twice as many, whatever is walked: a way that is dropped has MAX_TRAVERSED before it, and its key
 * gets in again only with a stronger way.
 */
function makeStrongest(keyOf: (way: Way) => string) {
  let best = new Map<string, Way>()
  const first = (): Way[] => [...best.values()].sort(inOrder).slice(0, MAX_TRAVERSED)
  return {
    add(way: Way): void {
      const known = best.get(keyOf(way))
      if (known && inOrder(known, way) <= 0) return
      best.set(keyOf(way), way)
      if (best.size >= 2 * MAX_TRAVERSED) best = new Map(first().map((kept) => [keyOf(kept), kept]))
    },
    first,
  }
}

/** Returns the strength of the strongest way to each memory, by id. */
function strengthsOf(ways: readonly Way[]): Map<string, number> {
  const strengths = new Map<string, number>()
  // The strongest come first.
  for (const { memoryId, strength } of ways) if (!strengths.has(memoryId)) strengths.set(memoryId, strength)
  return strengths
}

/** Returns relationships by id; long metadata is left out. */
async function readRelationships(db: Db, tenantId: string, ids: readonly string[]) {
  // The given relationships that still exist; locks nothing.
  const rows = await db.rows<Relationship & { metadata_bytes: number }>(
    `select tenant_id, id, source_memory_id, target_memory_id, relationship_type, strength, created_at,
            coalesce(octet_length(metadata), 0) as metadata_bytes,
            case when octet_length(metadata) <= ${SHORT_METADATA} then metadata end as metadata
       from memory_relationships where tenant_id = ? and ${db.dialect.inList('id')}`,
    [tenantId, db.dialect.list(ids)],
  )
  return new Map(rows.map((row) => [row.id, row]))
}

/** Returns the steps with their rows; a step that was deleted, or hidden from the viewer, meanwhile is left out. */
async function readReached(db: Db, viewer: Viewer, steps: readonly Step[], now: number): Promise<Reached[]> {
  const [relationships, listed] = await Promise.all([
    readRelationships(
      db,
      viewer.tenantId,
      steps.map(({ relationshipId }) => relationshipId),
    ),
    listMemoriesById(db, seenBy(viewer, now), [...new Set(steps.map(({ memoryId }) => memoryId))]),
  ])
  const memories = new Map(listed.map((memory) => [memory.id, memory]))
  return steps.flatMap(({ relationshipId, memoryId, depth, strength }) => {
    const found = relationships.get(relationshipId)
    const memory = memories.get(memoryId)
    if (!found || !memory) return []
    const { metadata_bytes: metadataBytes, ...relationship } = found
    return [{ relationship, metadataBytes, memory, depth, strength }]
  })
}

/**
 * Returns the memories that a viewer reaches from a memory it sees. Depth is 1 to MAX_TRAVERSAL_DEPTH. Pauses after
 * each page that it has read.
 */
export async function reachedFrom(
  db: Db,
  viewer: Viewer,
  startId: string,
  depth: number,
  direction: Direction,
  now: number,
  pause: Pause,
): Promise<Reached[]> {
  const pace = makePace(pause)
  const walk = { db, viewer, now, pace }
  const passed = new Set([startId])
  const steps: Step[] = []
  let from = new Map([[startId, 1]])
  for (let level = 1; level <= depth && steps.length < MAX_TRAVERSED; level++) {
    const strongest = makeStrongest(level === 1 ? (way) => way.relationshipId : (way) => way.memoryId)
    const ids = [...from.keys()].sort(compare)
    for await (const ways of waysFrom(walk, ids, direction, level === 1 ? Infinity : MAX_WALKED))
      for (const way of ways) {
        if (passed.has(way.memoryId)) continue
        const strength = level === 1 ? way.strength : from.get(way.fromId)! * way.strength
        strongest.add({ ...way, strength })
      }
    const found = strongest.first()
    for (const way of found) {
      passed.add(way.memoryId)
      steps.push({ ...way, depth: level })
    }
    from = strengthsOf(found)
  }
  const reached: Reached[] = []
  for (let at = 0; at < Math.min(steps.length, MAX_TRAVERSED); at += SHOWN) {
    await pace.next()
    reached.push(...(await readReached(db, viewer, steps.slice(at, Math.min(at + SHOWN, MAX_TRAVERSED)), now)))
    pace.did(PAGE)
  }
  return reached
}

/** Returns the relationship as JSON, reading its long metadata now. */
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
  { now, pause, isBrief }: Reading & { pause: Pause },
): Promise<JsonBody> {
  await requireHead(db, principal, id, now)
  const depth = Math.min(MAX_TRAVERSAL_DEPTH, Math.max(1, query.depth ?? 1))
  const reached = await reachedFrom(db, principal, id, depth, query.direction ?? 'out', now, pause)
  const relationship = (one: Reached) => (isBrief ? relationshipJson(one.relationship) : wholeRelationship(db, one))
  const response = {
    open: '{"relationships":[',
    items: reached.map((one) => ({
      memory: one.memory,
      extraBytes: one.metadataBytes,
      before: async () => `{"relationship":${await relationship(one)},"memory":`,
      after: `,"depth":${one.depth},"cumulative_strength":${one.strength}}`,
    })),
    close: (count: number) => `],"count":${count}}`,
    isBrief,
  }
  return jsonBody(db, db, seenBy(principal, now), response)
}
