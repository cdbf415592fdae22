// Writes long metadata ahead of the transaction that will name it: see long-metadata.ts.
import { JsonText } from '../kernel/json-members.ts'
import type { Caller, Db, Store } from '../store/db.ts'
import type { Quotas } from '../tenants/quotas.ts'
import { discardSurplus } from './discard-metadata.ts'
import {
  beside,
  nameOf,
  noteUnnamed,
  notInTime,
  PART,
  partsIn,
  writePart,
  type MetadataColumns,
} from './long-metadata.ts'

export interface KeepAheadTools {
  store: Store
  quotas: Quotas
  now(): number
}

/**
 * Writes the metadata of a request ahead of the transaction that will name it, if it is long. Returns the columns of
 * the memory; null if the metadata is short, or if the tenant has no room for it. `replaced` returns the bytes of the
 * metadata that it takes the place of.
 */
export async function keepAhead(
  tools: KeepAheadTools,
  caller: Caller,
  metadata: unknown,
  replaced?: () => Promise<number>,
): Promise<MetadataColumns | null> {
  if (!(metadata instanceof JsonText) || metadata.bytes.length <= PART) return null
  return keepBytes(tools, caller, metadata.bytes, replaced && (await replaced()))
}

/** The same for a text of the service's own. */
export async function keepBytes(
  { store, quotas, now }: KeepAheadTools,
  caller: Caller,
  bytes: Buffer,
  replaced = 0,
): Promise<MetadataColumns | null> {
  const { tenantId } = caller
  const more = Math.max(0, bytes.length - replaced)
  if (await quotas.take(tenantId, 0, more)) return null
  try {
    await discardSurplus(store, tenantId)
    const id = await nameOf(bytes)
    let part = 0
    for (const text of partsIn(bytes)) {
      await store.tx((tx) => writeUnnamed(tx, tenantId, id, part, text, now()), { caller })
      part++
    }
    return beside(id, bytes.length)
  } finally {
    quotas.release(tenantId, 0, more)
  }
}

/** Writes one part of a text that nobody names yet, and notes when: slow is not dead. */
async function writeUnnamed(
  tx: Db,
  tenantId: string,
  id: string,
  part: number,
  text: Buffer,
  now: number,
): Promise<void> {
  if (part === 0) await noteUnnamed(tx, { tenant_id: tenantId, id: null }, id, text.length, now)
  // Notes that the text is still being written, unless its deletion has begun.
  else if (
    (await tx.run('update unnamed_metadata set since = ? where tenant_id = ? and id = ? and since > 0', [
      now,
      tenantId,
      id,
    ])) === 0
  )
    throw notInTime()
  await writePart(tx, tenantId, id, part, text)
}
