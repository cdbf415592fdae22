// Writes a changed memory, for every verb that changes one.
import type { Db } from '../store/db.ts'
import { meterStoredBytes } from '../tenants/usage.ts'
import { nameMetadata } from './long-metadata.ts'
import type { MemoryTools } from './remember.ts'
import { isLive } from './see.ts'
import { saveMemory, type MemoryRow } from './sql.ts'
import { storedBytes } from './stored-bytes.ts'
import { keepVersion } from './versions.ts'

/**
 * Writes `after` in place of `before`, which the verb has locked, and returns it. The quota refuses before anything is
 * written, because an import goes on with its next line in the same transaction.
 */
export async function writeChange(
  tx: Db,
  { index, quotas }: Pick<MemoryTools, 'index' | 'quotas'>,
  changedBy: string,
  before: MemoryRow,
  after: MemoryRow,
  now: number,
): Promise<MemoryRow> {
  const added = storedBytes(after) - storedBytes(before)
  if (added > 0) await quotas.makeRoomForBytes(tx, after.tenant_id, added)
  meterStoredBytes(tx, after.tenant_id, added)
  if (after.metadata_id !== before.metadata_id) await nameMetadata(tx, after)
  await saveMemory(tx, after)
  await keepVersion(tx, changedBy, before, after)
  const wasLive = isLive(before, now)
  // A memory that has expired by the clock may still be in the index.
  if (!wasLive) await index.remove(tx, after.tenant_id, after.id)
  await index.put(tx, after, wasLive ? before : undefined)
  return after
}
