// Counts the texts of a memory against its tenant's quota of stored bytes. A change counts the bytes it adds or
// removes, so that erasure gives back exactly what was counted.
import type { Db } from '../store/db.ts'
import type { Quotas } from '../tenants/quotas.ts'
import { meter, STORED_BYTES } from '../tenants/usage.ts'
import type { WrittenMemory } from './sql.ts'

type Texts = Pick<WrittenMemory, 'tenant_id' | 'title' | 'content' | 'metadata'>

export const storedBytes = ({ title, content, metadata }: Texts): number =>
  [title, content, metadata].reduce<number>((sum, text) => sum + Buffer.byteLength(text), 0)

/** Called before a changed memory is written. Throws if the quota has no room for the bytes it adds. */
export async function countChange(
  tx: Db,
  quotas: Pick<Quotas, 'makeRoomForBytes'>,
  before: Texts,
  changed: Texts,
  at: number,
): Promise<void> {
  const added = storedBytes(changed) - storedBytes(before)
  if (added > 0) await quotas.makeRoomForBytes(tx, changed.tenant_id, added)
  meter(tx, at, [[changed.tenant_id, STORED_BYTES, added]])
}
