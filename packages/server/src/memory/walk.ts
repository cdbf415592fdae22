// Reads the relationships that lead away from some memories, in pages: a step of a traversal reads one page, and then
// other callers have a turn. 12,000 in one query held everybody up for 129 ms.
import type { Direction } from '@sensorium/contract'
import type { Pause } from '../kernel/step-turns.ts'
import type { Db, Value } from '../store/db.ts'
import { seenBy, type Viewer } from './see.ts'

const ENDS = {
  out: [['source_memory_id', 'target_memory_id']],
  in: [['target_memory_id', 'source_memory_id']],
  both: [
    ['source_memory_id', 'target_memory_id'],
    ['target_memory_id', 'source_memory_id'],
  ],
} as const

type Ends = (typeof ENDS)[Direction][number]

/** Relationships in a page: with the memories they lead to, which are checked too, some 3 ms. */
export const PAGE = 1_000
/** Memories whose relationships are read in one query, at first and at most. */
const FEW = 64
const MANY = 512

/** A relationship that was followed, and the memory it leads to. */
export interface Way {
  relationshipId: string
  fromId: string
  memoryId: string
  strength: number
}

/** Pauses for other callers when a page or more was read since the last pause; a short traversal never waits. */
interface Pace {
  did(rows: number): void
  next(): Promise<void>
}

export function makePace(pause: Pause): Pace {
  let rows = 0
  return {
    did: (more) => void (rows += more),
    async next() {
      if (rows < PAGE) return
      rows = 0
      await pause()
    },
  }
}

interface WayRow {
  id: string
  near: string
  far: string
  strength: number
  is_seen: number
}

interface Walk {
  db: Db
  viewer: Viewer
  now: number
  pace: Pace
}

/** Reads up to PAGE + 1 relationships that meet a condition on `r`, and whether the viewer sees where they lead. */
async function read({ db, viewer, now, pace }: Walk, [near, far]: Ends, which: string, values: Value[], order = '') {
  await pace.next()
  const seen = seenBy(viewer, now)
  // The columns that a traversal needs of the relationships at one end of given memories; locks nothing.
  const rows = await db.rows<WayRow>(
    `select w.id, w.near, w.far, w.strength, case when m.id is null then 0 else 1 end as is_seen
       from (select r.id, r.${near} as near, r.${far} as far, r.strength from memory_relationships r
              where r.tenant_id = ? and ${which} limit ${PAGE + 1}) w
       left join memories m on m.id = w.far and ${seen.sql} ${order && 'order by w.far, w.strength, w.id'}`,
    [viewer.tenantId, ...values, ...seen.values],
  )
  pace.did(rows.length)
  return rows
}

/** Yields all relationships of one memory that has many, in the order of the index. */
async function* pagesOfOne(walk: Walk, ends: Ends, id: string): AsyncGenerator<WayRow[]> {
  const [near, far] = ends
  const order = `order by r.${far}, r.strength, r.id`
  const which = `r.${near} = ? and (r.${far}, r.strength, r.id) > (?, ?, ?) ${order}`
  for (let last: WayRow | undefined; ; ) {
    const after = last ? [last.far, last.strength, last.id] : ['', -1, '']
    const rows = await read(walk, ends, which, [id, ...after], order)
    yield rows
    if (rows.length <= PAGE) return
    last = rows.at(-1)!
  }
}

/** Yields the relationships of several memories, reading as many memories at once as fit in a page together. */
async function* pagesOf(walk: Walk, ends: Ends, ids: readonly string[]): AsyncGenerator<WayRow[]> {
  const { inList, list } = walk.db.dialect
  let size = FEW
  for (let at = 0; at < ids.length; ) {
    const some = ids.slice(at, at + size)
    const rows = await read(walk, ends, inList(`r.${ends[0]}`), [list(some)])
    if (rows.length <= PAGE) {
      yield rows
      at += some.length
      size = Math.min(MANY, size * 2)
    } else if (some.length > 1) {
      size = some.length >> 1
    } else {
      yield* pagesOfOne(walk, ends, ids[at++]!)
    }
  }
}

/**
 * Yields the ways from these memories to others that the viewer sees, a page at a time. Looks at no more than `limit`
 * relationships in each direction.
 */
export async function* waysFrom(
  walk: Walk,
  ids: readonly string[],
  direction: Direction,
  limit: number,
): AsyncGenerator<Way[]> {
  for (const ends of ENDS[direction]) {
    let left = limit
    for await (const rows of pagesOf(walk, ends, ids)) {
      const walked = rows.length > left ? rows.slice(0, left) : rows
      left -= walked.length
      yield walked
        .filter(({ is_seen }) => is_seen === 1)
        .map(({ id, near, far, strength }) => ({ relationshipId: id, fromId: near, memoryId: far, strength }))
      if (left === 0) break
    }
  }
}
