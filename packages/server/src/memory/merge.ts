// Merges memories that say the same into one of them, which keeps its own text. The relationships of the others move to
// it, and the others are soft-deleted. Its metadata names them as `derived_from`.
import type { Principal } from '../auth/principal.ts'
import { ruleBroken } from '../kernel/failure.ts'
import type { Db } from '../store/db.ts'
import { withDerived } from './derived-from.ts'
import { holdHead, requireHead, requireMemory } from './get.ts'
import type { MemoryTools } from './remember.ts'
import { markDeleted, saveMemory, type MemoryHead, type MemoryRow } from './sql.ts'
import { countChange } from './stored-bytes.ts'
import { keepVersion, timeOfChange } from './versions.ts'

/** Relationships that the memories of a merge may have together: more would hold up other writers. */
const MAX_EDGES = 10_000

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
 * Decides what becomes of each edge. Pure. Edges among the merged memories are dropped. Of several edges of one type
 * between the same two memories the strongest stays; of equally strong ones first one that `into` has already, then the
 * one with the lowest id.
 */
export function movesOf(edges: readonly Edge[], into: string, merged: ReadonlySet<string>): Moves {
  const isOurs = (id: string): boolean => id === into || merged.has(id)
  const moves: Moves = { dropped: [], outgoing: [], incoming: [] }
  const kept = new Set<string>()
  const stays = ({ source_memory_id, target_memory_id }: Edge): number =>
    source_memory_id === into || target_memory_id === into ? 0 : 1
  const byStrength = edges.toSorted((a, b) => b.strength - a.strength || stays(a) - stays(b) || (a.id < b.id ? -1 : 1))
  for (const edge of byStrength) {
    const { id, source_memory_id: source, target_memory_id: target, relationship_type } = edge
    const name = [isOurs(source) ? into : source, isOurs(target) ? into : target, relationship_type].join(' ')
    if ((isOurs(source) && isOurs(target)) || kept.has(name)) {
      moves.dropped.push(id)
      continue
    }
    kept.add(name)
    if (merged.has(source)) moves.outgoing.push(id)
    else if (merged.has(target)) moves.incoming.push(id)
  }
  return moves
}

async function moveEdges(tx: Db, into: MemoryRow, merged: readonly string[]): Promise<void> {
  const { inList, list } = tx.dialect
  const names = list([into.id, ...merged])
  // The edges at either end of given memories, up to one more than is allowed.
  const edges = await tx.rows<Edge>(
    `select id, source_memory_id, target_memory_id, relationship_type, strength from memory_relationships
      where tenant_id = ? and (${inList('source_memory_id')} or ${inList('target_memory_id')}) limit ?`,
    [into.tenant_id, names, names, MAX_EDGES + 1],
  )
  if (edges.length > MAX_EDGES)
    throw ruleBroken('too_many_relationships', `These memories have more than ${MAX_EDGES} relationships`, {
      memory_id: into.id,
      limit: MAX_EDGES,
    })
  const moves = movesOf(edges, into.id, new Set(merged))
  const of = (ids: readonly string[]) => [into.tenant_id, list(ids)] as const
  await tx.run(`delete from memory_relationships where tenant_id = ? and ${inList('id')}`, of(moves.dropped))
  await tx.run(`update memory_relationships set source_memory_id = ? where tenant_id = ? and ${inList('id')}`, [
    into.id,
    ...of(moves.outgoing),
  ])
  await tx.run(`update memory_relationships set target_memory_id = ? where tenant_id = ? and ${inList('id')}`, [
    into.id,
    ...of(moves.incoming),
  ])
}

export async function mergeMemories(
  tx: Db,
  tools: Pick<MemoryTools, 'now' | 'index' | 'quotas'>,
  principal: Principal,
  id: string,
  memoryIds: readonly string[],
): Promise<MemoryRow> {
  const now = tools.now()
  const merged = [...new Set(memoryIds)].filter((other) => other !== id)
  // The memory of the path is checked before those of the body.
  await requireHead(tx, principal, id, now)
  // Locked in the order of ids, so that two merges of the same memories never deadlock. Of the memories that go, only
  // the head is read: twenty with half a megabyte of metadata took 90 ms.
  const heads = new Map<string, MemoryHead>()
  for (const each of [id, ...merged].sort()) heads.set(each, await holdHead(tx, principal, each, now))
  const row = await requireMemory(tx, principal, id, now)
  const others = merged.map((other) => heads.get(other)!)
  const unlike = others.find(
    ({ agent_id, scope, team_id }) => agent_id !== row.agent_id || scope !== row.scope || team_id !== row.team_id,
  )
  if (unlike)
    throw ruleBroken('merge_mismatch', 'Memories are merged that have the same owner, scope and team', {
      memory_id: unlike.id,
    })
  if (others.length === 0) return row
  const metadata = withDerived(row.metadata, merged)
  const kept: MemoryRow = { ...row, metadata, updated_at: timeOfChange(row, now) }
  await countChange(tx, tools.quotas, row, kept, now)
  await moveEdges(tx, row, merged)
  for (const other of others.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
    await markDeleted(tx, other, now)
    await tools.index.remove(tx, other.tenant_id, other.id)
  }
  await saveMemory(tx, kept)
  await keepVersion(tx, principal.id, row, kept)
  await tools.index.put(tx, kept, row)
  return kept
}
