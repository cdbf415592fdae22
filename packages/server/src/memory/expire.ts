// Tidies up after memories whose time has come. Nobody sees them any more since that moment, by the clock; this gives
// them their status and takes them out of the indexes. Small steps, so that no other writer waits long.
import type { Db, Store } from '../store/db.ts'
import type { MemoryIndex } from './index/memory-index.ts'
import { lockExpired, setExpired } from './sql.ts'

const STEP = 100

/** Gives one whose time has come its status, and takes it out of the indexes. */
export async function expire(
  tx: Db,
  index: Pick<MemoryIndex, 'remove'>,
  { tenant_id, id }: { tenant_id: string; id: string },
): Promise<void> {
  await setExpired(tx, tenant_id, id)
  await index.remove(tx, tenant_id, id)
}

/** One round over everything that is due; answers how many expired. */
export async function expireMemories(store: Store, index: Pick<MemoryIndex, 'remove'>, now: number): Promise<number> {
  for (let total = 0; ; ) {
    const expired = await store.tx(async (tx) => {
      const due = await lockExpired(tx, now, STEP)
      for (const memory of due) await expire(tx, index, memory)
      return due.length
    })
    total += expired
    if (expired < STEP) return total
    await new Promise(setImmediate)
  }
}
