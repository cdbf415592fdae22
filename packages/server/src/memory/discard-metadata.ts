// Deletes long metadata that nobody names: see long-metadata.ts.
import { SERVICE_CALLER, type Caller, type Db, type Store } from '../store/db.ts'
import { noteUnnamed, type LeftMetadata, type MetadataColumns, type MetadataOwner } from './long-metadata.ts'

/** How long a text that nobody names is kept. */
const UNNAMED_MS = 60_000
/** Texts of a tenant that one round of the sweep deletes. */
const SWEPT_AT_ONCE = 100
/** In bytes: what the versions of a tenant have left and what waits to be deleted. */
const MOST_LEFT = 33_554_432
/** Parts that are deleted in one transaction: SQLite reads every page of them. */
const DELETED_AT_ONCE = 4

/**
 * Begins the deletion of the long metadata of a memory that is erased: of what it and its versions `named`, and of what
 * they did before. `discardErased` deletes it, or else the sweep does.
 */
export async function eraseMetadata(tx: Db, memory: MetadataOwner, named: readonly LeftMetadata[]): Promise<void> {
  await tx.run('update unnamed_metadata set since = 0 where tenant_id = ? and memory_id = ?', [
    memory.tenant_id,
    memory.id,
  ])
  const texts = new Map(named.map((text) => [text.metadata_id, text.metadata_bytes]))
  for (const [id, bytes] of texts) if (id !== null) await noteUnnamed(tx, memory, id, bytes!, 0)
}

/** Whose texts are discarded: those that no memory ever named, or those that nobody has named or written since then. */
type Which = { neverNamed: true } | { before: number }
const ANY: Which = { before: Number.MAX_SAFE_INTEGER }

/** Deletes a text in steps, unless it is named. What it leaves undone, the sweep does. */
async function discardMetadata(store: Store, tenantId: string, id: string, which: Which): Promise<void> {
  const [condition, ...values] = 'before' in which ? ['since < ?', which.before] : ['memory_id is null']
  // Whoever would name it from now on is refused.
  const begin = (tx: Db) =>
    tx.run(`update unnamed_metadata set since = 0 where tenant_id = ? and id = ? and ${condition}`, [
      tenantId,
      id,
      ...values,
    ])
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

/**
 * Called when the transaction that was to name the text is over, however it ended. A text that was named, and has been
 * replaced since, may still be read.
 */
export function discardUnlessNamed(store: Store, { tenantId }: Caller, kept: MetadataColumns | null): void {
  // If the store is away, the sweep deletes it.
  if (kept?.metadata_id) discardMetadata(store, tenantId, kept.metadata_id, { neverNamed: true }).catch(() => {})
}

/**
 * Deletes the oldest texts of a tenant that versions have left, as far as they are more than MOST_LEFT together: no
 * quota counts them. Called by whoever writes more.
 */
export async function discardSurplus(store: Store, tenantId: string): Promise<void> {
  // What versions have left, newest first.
  const left = await store.rows<{ id: string; bytes: number }>(
    'select id, bytes from unnamed_metadata where tenant_id = ? and memory_id is not null order by since desc',
    [tenantId],
  )
  let bytes = 0
  const surplus = left.filter((text) => (bytes += text.bytes) > MOST_LEFT)
  for (const { id } of surplus.reverse()) await discardMetadata(store, tenantId, id, ANY)
}

/** Deletes the long metadata of a memory that is erased, in steps: up to twenty megabytes in one took SQLite 75 ms. */
export async function discardErased(store: Store, tenantId: string, memoryId: string): Promise<void> {
  // What the erasure has left.
  const left = await store.rows<{ id: string }>(
    'select id from unnamed_metadata where tenant_id = ? and memory_id = ? and since = 0',
    [tenantId, memoryId],
  )
  for (const { id } of left) await discardMetadata(store, tenantId, id, ANY)
}

/** Deletes the texts that nobody has named for a while. */
export async function sweepMetadata(store: Store, now: number): Promise<void> {
  const before = now - UNNAMED_MS
  for (let isDone = false; !isDone; ) {
    isDone = true
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
      for (const { id } of ids) await discardMetadata(store, tenant_id, id, { before })
      if (ids.length === SWEPT_AT_ONCE) isDone = false
    }
  }
}
