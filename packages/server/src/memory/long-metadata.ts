// Metadata that is too long for the row of its memory. SQLite writes a row in one step, and rewrites it at every change
// of the memory, the smallest too: ten megabytes in a row held up everybody for 12 to 30 ms each time.
//
// 1. It is kept in parts. Each is written in a transaction of its own, before the transaction that names the text, and
//    none is ever changed.
// 2. A memory names its text, and a version the one that a change replaced. A text is kept as long as one of them does.
// 3. A text that nobody names is noted as such from its first part on: its request was refused, or its node died, or
//    the last version that named it is gone. The sweep deletes it after a minute, in which responses that are being
//    written still read it.
//
// Readers must expect either form: a text that could not be written ahead of its transaction stands in the row.
import { createHash, randomBytes } from 'node:crypto'
import { unavailable } from '../kernel/failure.ts'
import { JsonText } from '../kernel/json-members.ts'
import { nextTurn } from '../kernel/step-turns.ts'
import { one, SERVICE_CALLER, type Caller, type Db, type Reads, type Store } from '../store/db.ts'
import type { Quotas } from '../tenants/quotas.ts'
import type { MemoryRow } from './sql.ts'

/** In bytes. Inserting a part takes SQLite a quarter of a millisecond, and its commit half of one. */
const PART = 262_144
/** How long a text that nobody names is kept. */
const UNNAMED_MS = 60_000
/** Texts of a tenant that one round of the sweep deletes. */
const SWEPT_AT_ONCE = 100
/** Parts that are deleted in one transaction: SQLite reads every page of them. */
const DELETED_AT_ONCE = 4

/** The columns of a memory that hold its metadata. */
export type MetadataColumns = Pick<MemoryRow, 'metadata' | 'metadata_id' | 'metadata_bytes'>

export const inRow = <M extends string | Buffer>(metadata: M) => ({ metadata, metadata_id: null, metadata_bytes: null })

/** The hash in the name of a text. Two texts are the same if their hashes are. */
const hashIn = (id: string | null): string | undefined => id?.split('.', 1)[0]

/** Returns a memory as it is wanted; if its metadata is what it was, by the name that this had, so nothing changes. */
export function withKnown<R extends MetadataColumns>(
  { metadata, metadata_id, metadata_bytes }: MetadataColumns,
  wanted: R,
): R {
  const isSame = metadata_id !== null && hashIn(metadata_id) === hashIn(wanted.metadata_id)
  return isSame ? { ...wanted, metadata, metadata_id, metadata_bytes } : wanted
}

/** Where a part ends that may reach up to `most`: not in the middle of a character. */
function endOfPart(bytes: Buffer, most: number): number {
  if (most >= bytes.length) return bytes.length
  let end = most
  while ((bytes[end]! & 0xc0) === 0x80) end--
  return end
}

function* partsIn(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; ) {
    const end = endOfPart(bytes, at + PART)
    yield bytes.subarray(at, end)
    at = end
  }
}

async function nameOf(bytes: Buffer): Promise<string> {
  const hash = createHash('sha256')
  for (const part of partsIn(bytes)) {
    hash.update(part)
    await nextTurn()
  }
  return `${hash.digest('base64url')}.${randomBytes(12).toString('base64url')}`
}

export interface KeepAheadTools {
  store: Store
  quotas: Quotas
  now(): number
}

/**
 * Writes the metadata of a request ahead of the transaction that will name it, if it is long. Returns the columns of
 * the memory; null if the metadata belongs into the row, or if the tenant has no room for it, which the transaction
 * will find too.
 */
export async function keepAhead(
  { store, quotas, now }: KeepAheadTools,
  caller: Caller,
  metadata: unknown,
): Promise<MetadataColumns | null> {
  if (!(metadata instanceof JsonText) || metadata.bytes.length <= PART) return null
  const { bytes } = metadata
  const { tenantId } = caller
  if (await quotas.take(tenantId, 0, bytes.length)) return null
  try {
    const id = await nameOf(bytes)
    let part = 0
    for (const text of partsIn(bytes)) {
      await store.tx((tx) => writePart(tx, tenantId, id, part, text, now()), { caller })
      part++
    }
    return { metadata: '{}', metadata_id: id, metadata_bytes: bytes.length }
  } finally {
    quotas.release(tenantId, 0, bytes.length)
  }
}

/** Writes one part of a text, and notes with the first that nobody names the text. */
async function writePart(tx: Db, tenantId: string, id: string, part: number, text: Buffer, now: number): Promise<void> {
  if (part === 0) await note(tx, tenantId, id, now)
  await tx.run(`insert into long_metadata (tenant_id, id, part, text) values (?, ?, ?, ${tx.dialect.textOfBytes})`, [
    tenantId,
    id,
    part,
    text,
  ])
}

/** Notes that nobody names the text. */
const note = (tx: Db, tenantId: string, id: string, now: number): Promise<number> =>
  tx.run('insert into unnamed_metadata (tenant_id, id, since) values (?, ?, ?)', [tenantId, id, now])

/** Called in the transaction that writes the memory. */
export async function nameMetadata(tx: Db, { tenant_id, id, metadata_id }: Named): Promise<void> {
  if (metadata_id === null) return
  // Ends the note that nobody names the text, unless its deletion has begun.
  const named = await tx.run('delete from unnamed_metadata where tenant_id = ? and id = ? and since > 0', [
    tenant_id,
    metadata_id,
  ])
  if (named > 0 || (await namedByVersions(tx, tenant_id, id, [metadata_id])).has(metadata_id)) return
  throw unavailable('Its metadata was not written in time')
}

type Named = Pick<MemoryRow, 'tenant_id' | 'id' | 'metadata_id'>

/** Returns those of the texts that kept versions of the memory name. */
async function namedByVersions(db: Db, tenantId: string, memoryId: string, ids: readonly string[]) {
  const { inList, list } = db.dialect
  const rows = await db.rows<{ metadata_id: string }>(
    `select metadata_id from memory_versions where tenant_id = ? and memory_id = ? and ${inList('metadata_id')}`,
    [tenantId, memoryId, list(ids)],
  )
  return new Set(rows.map(({ metadata_id }) => metadata_id))
}

/** Lets go of texts that versions named which are gone now, unless the memory or another version names them. */
export async function releaseMetadata(tx: Db, memory: Named, dropped: readonly (string | null)[], now: number) {
  const ids = [...new Set(dropped)].filter((id) => id !== null && id !== memory.metadata_id) as string[]
  if (ids.length === 0) return
  const named = await namedByVersions(tx, memory.tenant_id, memory.id, ids)
  for (const id of ids) if (!named.has(id)) await note(tx, memory.tenant_id, id, now)
}

/** Yields a long text part by part. Throws if it is gone, which cuts the response off. */
export async function* partsOf(
  db: Reads,
  tenantId: string,
  { metadata_id, metadata_bytes }: Pick<MetadataColumns, 'metadata_id' | 'metadata_bytes'>,
): AsyncGenerator<string> {
  for (let part = 0, left = metadata_bytes ?? 0; left > 0; part++) {
    // One part of a text.
    const row = await one<{ text: string }>(
      db,
      `select ${db.dialect.longText('text', 'text')} from long_metadata where tenant_id = ? and id = ? and part = ?`,
      [tenantId, metadata_id, part],
    )
    if (!row) throw new Error('the metadata of a memory was deleted while it was read')
    left -= Buffer.byteLength(row.text)
    yield row.text
  }
}

/** Returns metadata as one text, for the few who need to look into it. */
export async function wholeMetadata(
  db: Reads,
  memory: Pick<MemoryRow, 'tenant_id'> & MetadataColumns,
): Promise<string> {
  if (memory.metadata_id === null) return memory.metadata
  let whole = ''
  for await (const part of partsOf(db, memory.tenant_id, memory)) whole += part
  return whole
}

/** Deletes texts of a tenant for good, in the transaction that erases what named them. */
export async function eraseMetadata(tx: Db, tenantId: string, named: readonly (string | null)[]): Promise<void> {
  const { inList, list } = tx.dialect
  const ids = named.filter((id) => id !== null)
  if (ids.length === 0) return
  await tx.run(`delete from long_metadata where tenant_id = ? and ${inList('id')}`, [tenantId, list(ids)])
}

/** Deletes a text in steps, unless it is named. What it leaves undone, the sweep does. */
async function discardMetadata(store: Store, tenantId: string, id: string): Promise<void> {
  // Whoever would name it from now on is refused.
  const begin = (tx: Db) =>
    tx.run('update unnamed_metadata set since = 0 where tenant_id = ? and id = ?', [tenantId, id])
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
  const end = (tx: Db) => tx.run('delete from unnamed_metadata where tenant_id = ? and id = ?', [tenantId, id])
  await store.tx(end, { caller })
}

/** Called when the transaction that was to name the text is over, however it ended. */
export function discardUnlessNamed(store: Store, { tenantId }: Caller, kept: MetadataColumns | null): void {
  // If the store is away, the sweep deletes it.
  if (kept?.metadata_id) discardMetadata(store, tenantId, kept.metadata_id).catch(() => {})
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
    for (const { id } of ids) await discardMetadata(store, tenant_id, id)
  }
}
