// Tidies up after memories that are past their expiry. From that moment nobody sees them, by the clock; this sets their
// status and removes them from the indexes. It works in small steps, so that no other writer waits long.
import { nextTurn } from '../kernel/step-turns.ts'
import type { Db, Store } from '../store/db.ts'
import type { MemoryIndex } from './index/memory-index.ts'
import { lockExpired, setExpired, tenantsWithExpired, type ExpiredMemory } from './sql.ts'

/** Memories in a step, and the bytes of their texts: a hundred long ones took up to 0.2 s to take out of the index. */
const STEP = 100
const STEP_BYTES = 65_536

/** Returns as many of the memories as make a step: at least one. Pure. */
function firstStep(due: readonly ExpiredMemory[]): ExpiredMemory[] {
  let bytes = 0
  const end = due.findIndex((memory) => (bytes += Number(memory.bytes)) > STEP_BYTES)
  return end === -1 ? [...due] : due.slice(0, Math.max(1, end))
}

/** Sets the status of a memory past its expiry, and removes it from the indexes. */
export async function expire(
  tx: Db,
  index: Pick<MemoryIndex, 'remove'>,
  { tenant_id, id }: { tenant_id: string; id: string },
): Promise<void> {
  await setExpired(tx, tenant_id, id)
  await index.remove(tx, tenant_id, id)
}

/**
 * Expires all memories that are due; returns how many. Tenants take turns, a step each, and a step locks rows of one
 * tenant: a million that expire at once hold up no other tenant, and a store that is sharded by tenant asks one shard.
 */
export async function expireMemories(store: Store, index: Pick<MemoryIndex, 'remove'>, now: number): Promise<number> {
  let total = 0
  for (let left = await tenantsWithExpired(store, now); left.length > 0; ) {
    const unfinished: string[] = []
    for (const tenantId of left) {
      const { expired, isLast } = await store.tx(async (tx) => {
        const due = await lockExpired(tx, tenantId, now, STEP)
        const step = firstStep(due)
        // In the order of ids, as all code that writes the index of several memories.
        for (const memory of step.sort((a, b) => (a.id < b.id ? -1 : 1))) await expire(tx, index, memory)
        return { expired: step.length, isLast: step.length === due.length && due.length < STEP }
      })
      total += expired
      if (!isLast) unfinished.push(tenantId)
      await nextTurn()
    }
    left = unfinished
  }
  return total
}
