// Writes a changed memory, for every verb that changes one.
import type { Db } from '../store/db.ts'
import { meterStoredBytes } from '../tenants/usage.ts'
import { placeMetadata } from './long-metadata.ts'
import type { MemoryTools } from './remember.ts'
import { isLive } from './see.ts'
import { saveMemory, type MemoryRow } from './sql.ts'
import { storedBytes } from './stored-bytes.ts'
import { keepVersion } from './versions.ts'

/**
 * Writes what is `wanted` in place of `before`, which the verb has locked, and returns it. The quota refuses before
 * anything is written, because an import goes on with its next line in the same transaction.
 */
export async function writeChange(
  tx: Db,
  { index, quotas }: Pick<MemoryTools, 'index' | 'quotas'>,
  changedBy: string,
  before: MemoryRow,
  wanted: MemoryRow,
  now: number,
): Promise<MemoryRow> {
  const added = storedBytes(wanted) - storedBytes(before)
  if (added > 0) await quotas.makeRoomForBytes(tx, wanted.tenant_id, added)
  meterStoredBytes(tx, wanted.tenant_id, added)
  const hasNewMetadata = wanted.metadata_id !== before.metadata_id || wanted.metadata !== before.metadata
  const after = { ...wanted, ...(hasNewMetadata ? await placeMetadata(tx, wanted) : null) }
  await saveMemory(tx, after)
  await keepVersion(tx, changedBy, before, after)
  const wasLive = isLive(before, now)
  // A memory that has expired by the clock may still be in the index.
  if (!wasLive) await index.remove(tx, after.tenant_id, after.id)
  await index.put(tx, after, wasLive ? before : undefined)
  return after
}
