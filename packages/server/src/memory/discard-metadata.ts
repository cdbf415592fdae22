// Deletes long metadata that nobody names: see long-metadata.ts.
import { SERVICE_CALLER, type Caller, type Db, type Store } from '../store/db.ts'
import type { MetadataColumns, MetadataOwner } from './long-metadata.ts'

/** How long a text that nobody names is kept. */
const UNNAMED_MS = 60_000
/** Texts of a tenant that one round of the sweep deletes. */
const SWEPT_AT_ONCE = 100
/** Parts that are deleted in one transaction: SQLite reads every page of them. */
const DELETED_AT_ONCE = 4

/** Deletes long metadata of a memory for good: what it and its versions `named`, and what they did before. */
export async function eraseMetadata(tx: Db, { tenant_id, id }: MetadataOwner, named: readonly (string | null)[]) {
  // What waits to be deleted.
  const left = await tx.rows<{ id: string }>(
    'delete from unnamed_metadata where tenant_id = ? and memory_id = ? returning id',
    [tenant_id, id],
  )
  const { inList, list } = tx.dialect
  const ids = [...named, ...left.map((text) => text.id)].filter((name) => name !== null)
  if (ids.length === 0) return
  await tx.run(`delete from long_metadata where tenant_id = ? and ${inList('id')}`, [tenant_id, list(ids)])
}

/**
 * Deletes a text in steps, unless it is named, or was written to since `before`. What it leaves undone, the sweep does.
 */
async function discardMetadata(store: Store, tenantId: string, id: string, before: number): Promise<void> {
  // Whoever would name it from now on is refused.
  const begin = (tx: Db) =>
    tx.run('update unnamed_metadata set since = 0 where tenant_id = ? and id = ? and since < ?', [tenantId, id, before])
  const caller = { ...SERVICE_CALLER, tenantId }
  if ((await store.tx(begin, { caller })) === 0) return
  // Deletes a few parts of a text, and returns how many.
  const deleteFew = (tx: Db) =>
    tx.run(
      `delete from long_metadata where tenant_id = ? and id = ? and part in
         (select part from long_metadata where tenant_id = ? and id = ? order by part limit ${DELETED_AT_ONCE})`,
      [tenantId, id, tenantId, id],
    )
  while ((await store.tx(deleteFew, { caller })) === DELETED_AT_ONCE);
  // Another node may be deleting them too, and not be done.
  const end = (tx: Db) =>
    tx.run(
      `delete from unnamed_metadata where tenant_id = ? and id = ?
         and not exists (select 1 from long_metadata where tenant_id = ? and id = ?)`,
      [tenantId, id, tenantId, id],
    )
  await store.tx(end, { caller })
}

/** Called when the transaction that was to name the text is over, however it ended. */
export function discardUnlessNamed(store: Store, { tenantId }: Caller, kept: MetadataColumns | null): void {
  // If the store is away, the sweep deletes it.
  if (kept?.metadata_id) discardMetadata(store, tenantId, kept.metadata_id, Number.MAX_SAFE_INTEGER).catch(() => {})
}

/** Deletes the texts that nobody has named for a while. */
export async function sweepMetadata(store: Store, now: number): Promise<void> {
  const before = now - UNNAMED_MS
  // The tenants that have such texts. Locks nothing.
  const tenants = await store.rows<{ tenant_id: string }>(
    'select distinct tenant_id from unnamed_metadata where since < ?',
    [before],
  )
  for (const { tenant_id } of tenants) {
    // Some of those texts, oldest first. Locks nothing.
    const ids = await store.rows<{ id: string }>(
      'select id from unnamed_metadata where tenant_id = ? and since < ? order by since limit ?',
      [tenant_id, before, SWEPT_AT_ONCE],
    )
    for (const { id } of ids) await discardMetadata(store, tenant_id, id, before)
  }
}
