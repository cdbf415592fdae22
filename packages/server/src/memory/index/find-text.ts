// Finds the memories that hold a text as one substring, whatever its case. The grams of the text select the candidates
// (grams.ts); their folded texts are then searched in time linear in their length. All of this runs in the search
// thread and in steps, so that a search through many long texts never keeps another tenant's search waiting for long.
import { fold } from './fold.ts'
import type { FindText } from './memory-index.ts'
import type { SearchThread } from './search.ts'
import type { Condition, Viewer } from '../see.ts'
import type { MayHold } from './grams.ts'

/** Bytes of text that are searched in one turn, in some milliseconds. */
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

/** Selects ids and lengths of memories that meet the condition on `m` and can hold the folded text, newest first. */
export function candidateQuery(mayHold: MayHold, viewer: Viewer, needle: string, wanted: Condition): Condition {
  const held = mayHold(viewer, needle)
  // Materialized: a planner that hopes to stop early scans all memories from the newest on, and a rare text is in none
  // of them. Cross join: makes SQLite use the tables in this order. Without statistics it would otherwise scan all
  // memories of the tenant.
  return {
    sql: `with held as materialized (
            select t.id, octet_length(t.title) + octet_length(t.content) as bytes from memory_texts t where ${held.sql})
          select m.id, held.bytes from held cross join memories m where m.id = held.id and ${wanted.sql}
           order by m.id desc`,
    values: [...held.values, ...wanted.values],
  }
}

/** The same for memories that are in no index: selects all that meet the condition. */
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
