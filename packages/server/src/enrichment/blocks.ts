// Makes the blocks of several deliveries to one receiver together: reads their memories a few at a time, and
// relationships only of memories that have some.
import { iso } from '../kernel/clock.ts'
import type { ToEnrich } from '../delivery/claim.ts'
import { toText, withExactNumbers } from '../kernel/json.ts'
import type { Pause } from '../kernel/step-turns.ts'
import type { Recalled } from '../memory/index/memory-index.ts'
import type { Viewer } from '../memory/see.ts'
import { reachedFrom, type Reached } from '../memory/traverse.ts'
import type { Db } from '../store/db.ts'
import { listRelated, listWithSubject, readEarlierEvents, readRecalled, type RecalledRow } from './sql.ts'

const EARLIER_EVENTS = 5
/** Memories read in one step: a content may have 32 kB. */
const READ_TOGETHER = 25
/** Relationships shown of each memory, the strongest: a block must not grow with what others have related. */
const RELATIONSHIPS = 100

export interface ToShow {
  delivery: ToEnrich
  recalled: readonly Recalled[]
}

/** Returns a relationship as the contract defines it; long metadata is left out. */
const shownRelationship = ({ metadata, created_at, ...row }: Reached['relationship']): object => ({
  ...row,
  metadata: metadata === null ? null : (withExactNumbers(metadata, JSON.parse(metadata)) as object),
  created_at: iso(created_at),
})

const idsOf = (items: readonly ToShow[]): string[] => [
  ...new Set(items.flatMap(({ recalled }) => recalled.map(({ id }) => id))),
]

type Shown = (RecalledRow & { score: number })[]

/** Reads the recalled memories that the viewer sees, a few in a step. */
async function readInSteps(
  db: Db,
  viewer: Viewer,
  items: readonly ToShow[],
  withContent: boolean,
  now: number,
  pause: Pause,
): Promise<Map<string, RecalledRow>> {
  const ids = idsOf(items)
  const rows = new Map<string, RecalledRow>()
  for (let at = 0; at < ids.length; at += READ_TOGETHER) {
    if (at > 0) await pause()
    const some = await readRecalled(db, viewer, ids.slice(at, at + READ_TOGETHER), withContent, now)
    for (const [id, row] of some) rows.set(id, row)
  }
  return rows
}

/** Returns each block as JSON, in the order of the items. Pauses before it reads, and before each full block. */
export async function blocksOf(
  db: Db,
  viewer: Viewer,
  items: readonly ToShow[],
  now: number,
  pause: Pause,
): Promise<(string | Promise<string>)[]> {
  await pause()
  const full = items.filter(({ delivery }) => delivery.depth === 'full')
  const eventIds = full.map(({ delivery }) => delivery.eventId)
  const [rows, related, withSubject] = await Promise.all([
    readInSteps(db, viewer, items, full.length > 0, now, pause),
    listRelated(db, viewer.tenantId, idsOf(full)),
    listWithSubject(db, viewer.tenantId, eventIds),
  ])
  const relationships = new Map<string, Promise<object[]>>()
  function relationshipsOf(id: string): Promise<object[]> {
    const known = relationships.get(id)
    if (known) return known
    const reading = related.has(id) ? reachedFrom(db, viewer, id, 1, 'out', now, pause) : Promise.resolve([])
    const shown = reading.then((reached) =>
      reached.slice(0, RELATIONSHIPS).map(({ relationship }) => shownRelationship(relationship)),
    )
    relationships.set(id, shown)
    return shown
  }

  async function fullBlock({ eventId }: ToEnrich, shown: Shown): Promise<string> {
    await pause()
    const memories = await Promise.all(
      shown.map(async (memory) => ({ ...memory, relationships: await relationshipsOf(memory.id) })),
    )
    const event = withSubject.get(eventId)
    const earlier = event ? await readEarlierEvents(db, viewer, event, EARLIER_EVENTS) : []
    return toText({ depth: 'full', memories, recent_events: earlier })
  }

  return items.map(({ delivery, recalled }) => {
    const shown = recalled.flatMap(({ id, score }) => (rows.has(id) ? [{ ...rows.get(id)!, score }] : []))
    if (delivery.depth === 'full') return fullBlock(delivery, shown)
    return JSON.stringify({ depth: 'light', memories: shown.map(({ id, title, score }) => ({ id, title, score })) })
  })
}
