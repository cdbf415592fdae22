// A page of memories, and how many there are in all. SQLite reads on the main thread, and took 180 ms for 100,000
// memories: they are counted in steps there, and a page is read in the steps that it falls into.
import type { Pause } from '../kernel/step-turns.ts'
import { one, type Db } from '../store/db.ts'
import { allOf, type Condition, type Way } from './see.ts'
import { listedColumns, type ListedMemory } from './sql.ts'

/** Entries of each index that a step looks at: about a millisecond. */
export const STEP = 2_000

const before = (last: string | null): Condition[] => (last === null ? [] : [{ sql: 'm.id < ?', values: [last] }])

/** Reads up to `most` of the memories that meet one of the conditions, newest first, without the first `skipped`. */
function readPage(
  db: Db,
  tenantId: string,
  ways: readonly Condition[],
  skipped: number,
  most: number,
): Promise<ListedMemory[]> {
  const union = ways.map(({ sql }) => `select m.id from memories m where ${sql}`).join(' union all ')
  // The ids first, from an index: the texts of skipped memories are never read. Cross join: makes SQLite use the two in
  // this order. With statistics it would otherwise read all memories of the tenant.
  return db.rows<ListedMemory>(
    `select ${listedColumns('m')} from (${union} order by id desc limit ? offset ?) p
       cross join memories m where m.tenant_id = ? and m.id = p.id order by m.id desc`,
    [...ways.flatMap(({ values }) => values), most, skipped, tenantId],
  )
}

const sumOf = (ways: readonly Condition[]): string =>
  ways.map(({ sql }) => `(select count(*) from memories m where ${sql})`).join(' + ')

/**
 * Counts the memories that follow `last`, up to the first place where a step of one of the indexes ends. Returns that
 * place too: the id of the last memory of the step, or null if the step has all that are left.
 */
async function countStep(
  db: Db,
  ways: readonly Way[],
  bases: readonly Condition[],
  last: string | null,
): Promise<{ found: number; edge: string | null }> {
  const ends = bases.map((base) => allOf(base, ...before(last)))
  const ofEnd = ({ sql }: Condition): string =>
    `select (select m.id from memories m where ${sql} order by m.id desc limit 1 offset ${STEP - 1}) as id`
  const wanted = ways.map((way) =>
    allOf(way, ...before(last), { sql: `m.id >= coalesce((select id from edge), '')`, values: [] }),
  )
  // The place where the first of these indexes ends its step, and what lies before it. Locks nothing.
  const counted = await one<{ n: number; edge: string | null }>(
    db,
    `with edge as materialized (select max(id) as id from (${ends.map(ofEnd).join(' union all ')}) as ends)
     select (select id from edge) as edge, ${sumOf(wanted)} as n`,
    [...ends, ...wanted].flatMap(({ values }) => values),
  )
  return { found: counted?.n ?? 0, edge: counted?.edge ?? null }
}

/** Returns a page of the memories that meet one of the conditions on `m`, which must not overlap, and their number. */
export async function pageMemories(
  db: Db,
  tenantId: string,
  ways: readonly Way[],
  offset: number,
  limit: number,
  pause: Pause,
): Promise<{ rows: ListedMemory[]; total: number }> {
  const bases = ways.flatMap(({ base }) => (base === null ? [] : [base]))
  // A database server counts beside this thread, and each step would be a round trip.
  if (db.isShared || bases.length < ways.length) {
    const rows = await readPage(db, tenantId, ways, offset, limit)
    const values = ways.flatMap((way) => way.values)
    return { rows, total: (await one<{ n: number }>(db, `select ${sumOf(ways)} as n`, values))?.n ?? 0 }
  }
  const rows: ListedMemory[] = []
  let total = 0
  for (let last: string | null = null; ; await pause()) {
    const { found, edge } = await countStep(db, ways, bases, last)
    const skipped = Math.max(0, offset - total)
    const most = Math.min(found - skipped, limit - rows.length)
    if (most > 0) {
      const upTo: Condition[] = edge === null ? [] : [{ sql: 'm.id >= ?', values: [edge] }]
      const inStep = ways.map((way) => allOf(way, ...before(last), ...upTo))
      rows.push(...(await readPage(db, tenantId, inStep, skipped, most)))
    }
    total += found
    if (edge === null) return { rows, total }
    last = edge
  }
}
