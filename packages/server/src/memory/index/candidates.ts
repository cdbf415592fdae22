// Selects the memories that may hold a text, in the search thread. There may be a hundred thousand, and as objects they
// took the main thread 65 ms to receive: it is sent their ids as a few long texts, each of as many memories as are
// searched in one turn.
import type { Db } from '../../store/db.ts'
import { allOf, type Condition, type Viewer } from '../see.ts'
import type { MayHold } from './grams.ts'

/** Bytes of text that are searched in one turn, in some milliseconds. */
const SLICE = 1_048_576

interface Candidate {
  id: string
  bytes: number
}

export interface Candidates {
  /** The ids of a turn each, with a space in between. */
  slices: string[]
  /** Where to go on; null if these are all. */
  last: string | null
}

/**
 * Selects ids and lengths of up to `most` memories that meet the condition on `m` and can hold the folded text, newest
 * first.
 */
export function candidateQuery(
  mayHold: MayHold,
  viewer: Viewer,
  needle: string,
  wanted: Condition,
  most: number,
): Condition {
  const held = mayHold(viewer, needle)
  // Materialized: a planner that hopes to stop early scans all memories from the newest on, and a rare text is in none
  // of them; with a bound limit it hopes so too. Cross join: makes SQLite use the tables in this order. Without
  // statistics it would otherwise scan all memories of the tenant.
  return {
    sql: `with held as materialized (
            select t.id, octet_length(t.title) + octet_length(t.content) as bytes from memory_texts t where ${held.sql})
          select m.id, held.bytes from held cross join memories m where m.id = held.id and ${wanted.sql}
           order by m.id desc limit ${most}`,
    values: [...held.values, ...wanted.values],
  }
}

/** The same for memories that are in no index: selects all that meet the condition. */
export const goneQuery = (wanted: Condition, most: number): Condition => ({
  sql: `select m.id, octet_length(m.title) + octet_length(m.content) as bytes from memories m where ${wanted.sql}
         order by m.id desc limit ${most}`,
  values: wanted.values,
})

/** The condition of those that follow a memory, newest first. */
export const after = (wanted: Condition, last: string | null): Condition =>
  last === null ? wanted : allOf(wanted, { sql: 'm.id < ?', values: [last] })

export interface CandidatesRequest extends Condition {
  /** How many the query selects at most. */
  most: number
}

export async function selectCandidates(db: Db, { sql, values, most }: CandidatesRequest): Promise<Candidates> {
  const rows = await db.rows<Candidate>(sql, values)
  const slices: string[] = []
  let ids: string[] = []
  let bytes = 0
  for (const [i, candidate] of rows.entries()) {
    ids.push(candidate.id)
    bytes += candidate.bytes + 100
    if (bytes < SLICE && i < rows.length - 1) continue
    slices.push(ids.join(' '))
    ids = []
    bytes = 0
  }
  return { slices, last: rows.length < most ? null : rows.at(-1)!.id }
}
