// The memories that hold a text as one substring, whatever its case. The grams of the text say which can
// (grams.ts); whether they do is read in their folded text, in time linear in its length. All of it in the search
// thread and in steps, so that a look through many long texts never keeps another tenant's search waiting for long.
import { fold } from './fold.ts'
import type { FindText } from './memory-index.ts'
import type { SearchThread } from './search.ts'
import type { Condition, Viewer } from '../see.ts'
import type { MayHold } from './grams.ts'

/** Text that is looked through in one turn, in bytes: some milliseconds. */
const STEP = 1_048_576

interface Candidate {
  id: string
  bytes: number
}

function* steps(candidates: readonly Candidate[]): Generator<string[]> {
  let ids: string[] = []
  let bytes = 0
  for (const candidate of candidates) {
    ids.push(candidate.id)
    bytes += candidate.bytes + 100
    if (bytes < STEP) continue
    yield ids
    ids = []
    bytes = 0
  }
  if (ids.length > 0) yield ids
}

/** Those that can hold the folded text, among what meets the condition on `m`: ids and lengths, newest first. */
export function candidateQuery(mayHold: MayHold, viewer: Viewer, needle: string, wanted: Condition): Condition {
  const held = mayHold(viewer, needle)
  // Materialized: a planner that hopes for a quick end walks all memories from the newest on, and a rare text is in
  // none of them. Cross join: SQLite takes the tables in this order, and would else walk all memories of the tenant for
  // want of statistics.
  return {
    sql: `with held as materialized (
            select t.id, octet_length(t.title) + octet_length(t.content) as bytes from memory_texts t where ${held.sql})
          select m.id, held.bytes from held cross join memories m where m.id = held.id and ${wanted.sql}
           order by m.id desc`,
    values: [...held.values, ...wanted.values],
  }
}

/** The same of what stands in no index: all that meets the condition. */
const goneQuery = (wanted: Condition): Condition => ({
  sql: `select m.id, octet_length(m.title) + octet_length(m.content) as bytes from memories m where ${wanted.sql}
         order by m.id desc`,
  values: wanted.values,
})

export const makeFindText =
  (mayHold: MayHold, thread: SearchThread): FindText =>
  async (viewer, text, wanted, isGone = false) => {
    const needle = fold(text)
    const query = isGone ? goneQuery(wanted) : candidateQuery(mayHold, viewer, needle, wanted)
    const candidates = (await thread.ask(viewer, 'rows', query)) as Candidate[]
    const found: string[] = []
    for (const ids of steps(candidates))
      found.push(...(await thread.ask(viewer, 'holding', { tenantId: viewer.tenantId, ids, needle, isGone })))
    return found
  }
