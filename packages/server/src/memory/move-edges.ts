// Moves the relationships of memories to the memory that they are merged into, in one transaction but in steps: between
// two of them others have their turn of the event loop. Ten thousand took 0.3 s.
import { ruleBroken } from '../kernel/failure.ts'
import { nextTurn } from '../kernel/step-turns.ts'
import type { Db, Value } from '../store/db.ts'
import { meterStoredBytes } from '../tenants/usage.ts'
import { RELATIONSHIP_BYTES, sumOfBytes } from './stored-bytes.ts'

/** Relationships that the memories of a merge may have together: more would hold up other writers. */
const MAX_EDGES = 10_000
/** Relationships that are read, or written, in one step of some milliseconds. */
const READ = 500
const WRITTEN = 100

export interface Edge {
  id: string
  source_memory_id: string
  target_memory_id: string
  relationship_type: string
  strength: number
}

export interface Moves {
  dropped: string[]
  /** Ids of the edges whose source, or whose target, becomes the memory that stays. */
  outgoing: string[]
  incoming: string[]
}

/**
 * Decides what becomes of each edge. Pure, apart from what it has seen. Edges among the merged memories are dropped. Of
 * several edges of one type between the same two memories the strongest stays; of equally strong ones first one that
 * `into` has already, then the one with the lowest id.
 */
export function decideMoves(into: string, merged: ReadonlySet<string>) {
  const seen = new Set<string>()
  const dropped: string[] = []
  /** The edge that stays, by what it will connect. */
  const kept = new Map<string, Edge>()
  const isOurs = (id: string): boolean => id === into || merged.has(id)
  const mustMove = ({ source_memory_id, target_memory_id }: Edge): number =>
    source_memory_id === into || target_memory_id === into ? 0 : 1
  const isBetter = (a: Edge, b: Edge): boolean =>
    (b.strength - a.strength || mustMove(a) - mustMove(b) || (a.id < b.id ? -1 : 1)) < 0

  return {
    /** How many edges were added. An edge among the merged memories is found at both of its ends and counts once. */
    count: (): number => seen.size,
    add(edge: Edge): void {
      if (seen.has(edge.id)) return
      seen.add(edge.id)
      const { source_memory_id: source, target_memory_id: target, relationship_type } = edge
      if (isOurs(source) && isOurs(target)) return void dropped.push(edge.id)
      const name = [isOurs(source) ? into : source, isOurs(target) ? into : target, relationship_type].join(' ')
      const other = kept.get(name)
      if (other && isBetter(other, edge)) return void dropped.push(edge.id)
      if (other) dropped.push(other.id)
      kept.set(name, edge)
    },
    moves(): Moves {
      const moves: Moves = { dropped, outgoing: [], incoming: [] }
      for (const { id, source_memory_id, target_memory_id } of kept.values()) {
        if (merged.has(source_memory_id)) moves.outgoing.push(id)
        else if (merged.has(target_memory_id)) moves.incoming.push(id)
      }
      return moves
    },
  }
}

const ENDS = [
  ['source_memory_id', 'target_memory_id'],
  ['target_memory_id', 'source_memory_id'],
] as const

/** Yields the edges at both ends of a memory, a page at a time, and locks them: nobody deletes one that is to stay. */
async function* edgesOf(tx: Db, tenantId: string, memoryId: string): AsyncGenerator<Edge[]> {
  for (const [near, far] of ENDS) {
    for (let last: readonly [string, number, string] = ['', -1, '']; ; ) {
      // The next edges of a memory, in the order of an index.
      const page = await tx.rows<Edge>(
        `select id, source_memory_id, target_memory_id, relationship_type, strength from memory_relationships
          where tenant_id = ? and ${near} = ? and (${far}, strength, id) > (?, ?, ?)
          order by ${far}, strength, id limit ? ${tx.dialect.forUpdate}`,
        [tenantId, memoryId, ...last, READ],
      )
      yield page
      if (page.length < READ) break
      await nextTurn()
      const { [far]: memory, strength, id } = page.at(-1)!
      last = [memory, strength, id]
    }
  }
}

export async function moveEdges(tx: Db, tenantId: string, into: string, merged: readonly string[]): Promise<void> {
  const decided = decideMoves(into, new Set(merged))
  for (const memoryId of [into, ...merged]) {
    for await (const page of edgesOf(tx, tenantId, memoryId)) {
      for (const edge of page) decided.add(edge)
      if (decided.count() > MAX_EDGES)
        throw ruleBroken('too_many_relationships', `These memories have more than ${MAX_EDGES} relationships`, {
          memory_id: into,
          limit: MAX_EDGES,
        })
    }
  }
  const { inList, list } = tx.dialect
  const these = `where tenant_id = ? and ${inList('id')}`
  // Runs a statement on edges with the given ids. The transaction stays open between two steps, and no other begins.
  async function inSteps(ids: readonly string[], step: (values: readonly Value[]) => Promise<unknown>): Promise<void> {
    for (let at = 0; at < ids.length; at += WRITTEN) {
      if (at > 0) await nextTurn()
      await step([tenantId, list(ids.slice(at, at + WRITTEN))])
    }
  }
  const { dropped, outgoing, incoming } = decided.moves()
  const deleteThese = `delete from memory_relationships ${these} returning ${RELATIONSHIP_BYTES} as bytes`
  await inSteps(dropped, async (values) =>
    meterStoredBytes(tx, tenantId, -sumOfBytes(await tx.rows<{ bytes: number }>(deleteThese, values))),
  )
  // Each statement moves one end of some edges, and locks their rows.
  for (const [end, ids] of [
    ['source_memory_id', outgoing],
    ['target_memory_id', incoming],
  ] as const)
    await inSteps(ids, (values) => tx.run(`update memory_relationships set ${end} = ? ${these}`, [into, ...values]))
}
