// Merges memories that say the same into one of them, which keeps its own text. The relationships of the others move to
// it, and the others are soft-deleted. Its metadata names them as `derived_from`.
import type { Principal } from '../auth/principal.ts'
import { ruleBroken } from '../kernel/failure.ts'
import type { Db } from '../store/db.ts'
import { withDerived } from './derived-from.ts'
import { lockHead, requireHead, requireMemory, requireOwner } from './get.ts'
import { inRow, wholeMetadata, type MetadataColumns } from './long-metadata.ts'
import { moveEdges } from './move-edges.ts'
import type { MemoryTools } from './remember.ts'
import { markDeleted, type MemoryHead, type MemoryRow } from './sql.ts'
import { timeOfChange } from './versions.ts'
import { writeChange } from './write-change.ts'

/** Long metadata as the merge will note in it what was merged, made ahead (prepare-texts.ts). */
export interface NotedAhead {
  /** The name of the text that it was made of; null if none was. */
  from: string | null
  /** Null if nothing changes. */
  kept: MetadataColumns | null
}

/** The memories that are merged into this one. */
export const othersThan = (id: string, memoryIds: readonly string[]): string[] =>
  [...new Set(memoryIds)].filter((other) => other !== id)

/** Returns the columns of metadata that notes what was merged, as far as they change. */
async function noted(tx: Db, row: MemoryRow, merged: readonly string[], ahead: NotedAhead | undefined) {
  if (ahead && ahead.from !== null && ahead.from === row.metadata_id) return ahead.kept ?? {}
  const before = await wholeMetadata(tx, row)
  const metadata = withDerived(before, merged)
  return metadata === before ? {} : inRow(metadata)
}

export async function mergeMemories(
  tx: Db,
  tools: Pick<MemoryTools, 'now' | 'index' | 'quotas'>,
  principal: Principal,
  id: string,
  memoryIds: readonly string[],
  ahead?: NotedAhead,
): Promise<MemoryRow> {
  const now = tools.now()
  // Merges of a tenant take turns: two that share relationships would lock them in different orders, and one moves the
  // end by which the other pages through them.
  await tx.lock([`merge ${principal.tenantId}`], 'exclusive')
  const merged = othersThan(id, memoryIds)
  // The memory of the path is checked before those of the body.
  await requireHead(tx, principal, id, now)
  // Locked in the order of ids, as everywhere. Of the memories that go, only the head is read: twenty with half a
  // megabyte of metadata took 90 ms.
  const heads = new Map<string, MemoryHead>()
  for (const each of [id, ...merged].sort()) heads.set(each, await lockHead(tx, principal, each, now))
  // Only then: whether one of them does not exist comes before whose they are, however their ids sort.
  for (const each of [id, ...merged]) requireOwner(principal, heads.get(each)!)
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
  const kept: MemoryRow = {
    ...row,
    ...(await noted(tx, row, merged, ahead)),
    updated_at: timeOfChange(row, now),
  }
  await writeChange(tx, tools, principal.id, row, kept, now)
  await moveEdges(tx, row.tenant_id, row.id, merged)
  for (const other of others.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
    await markDeleted(tx, other, now)
    await tools.index.remove(tx, other.tenant_id, other.id)
  }
  return kept
}
