// Metadata that is too long for the row of its memory. SQLite writes a row in one step, and rewrites it at every change
// of the memory, the smallest too: ten megabytes in a row held up everybody for 12 to 30 ms each time.
//
// 1. It is kept in parts, none of which is ever changed. Each is written in a transaction of its own, before the
//    transaction that names the text (keep-ahead.ts). What is known only in that transaction is written there.
// 2. A memory names its text, and a version the one that a change replaced. A text is kept as long as one of them does.
// 3. A text that nobody names is noted as such from its first part on: its request was refused, or its node died, or
//    the last version that named it is gone. The sweep deletes it after a minute, in which responses that are being
//    written still read it (discard-metadata.ts). What an erasure left is deleted at once.
//
// Readers must expect either form: 1.0 wrote every text into its row, where it stays until it is changed.
import { createHash, randomBytes } from 'node:crypto'
import { unavailable } from '../kernel/failure.ts'
import { nextTurn } from '../kernel/step-turns.ts'
import { one, type Db, type Reads } from '../store/db.ts'
import type { MemoryRow, WrittenMemory } from './sql.ts'

/** In bytes. Inserting a part takes SQLite a quarter of a millisecond, and its commit half of one. */
export const PART = 262_144

/** The columns of a memory that hold its metadata. */
export type MetadataColumns = Pick<MemoryRow, 'metadata' | 'metadata_id' | 'metadata_bytes'>
type WrittenColumns = Pick<WrittenMemory, keyof MetadataColumns>

export const inRow = <M extends string | Buffer>(metadata: M) => ({ metadata, metadata_id: null, metadata_bytes: null })
export const beside = (metadata_id: string, metadata_bytes: number) => ({ metadata: '{}', metadata_id, metadata_bytes })

const bytesIn = (text: string | Buffer): Buffer => (typeof text === 'string' ? Buffer.from(text) : text)

/** Where a part ends that may reach up to `most`: not in the middle of a character. */
function endOfPart(bytes: Buffer, most: number): number {
  if (most >= bytes.length) return bytes.length
  let end = most
  while ((bytes[end]! & 0xc0) === 0x80) end--
  return end
}

export function* partsIn(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; ) {
    const end = endOfPart(bytes, at + PART)
    yield bytes.subarray(at, end)
    at = end
  }
}

async function hashOf(bytes: Buffer): Promise<string> {
  const hash = createHash('sha256')
  for (const part of partsIn(bytes)) {
    hash.update(part)
    await nextTurn()
  }
  return hash.digest('base64url')
}

/** A text is named by its hash, and by chance: another memory with the same text has a copy of its own. */
export const nameOf = async (bytes: Buffer): Promise<string> =>
  `${await hashOf(bytes)}.${randomBytes(12).toString('base64url')}`

/** The hash of a text, wherever it stands. */
const hashIn = async ({ metadata, metadata_id }: MetadataColumns): Promise<string> =>
  metadata_id === null ? hashOf(Buffer.from(metadata)) : metadata_id.split('.', 1)[0]!

const lengthIn = ({ metadata, metadata_bytes }: MetadataColumns): number =>
  metadata_bytes ?? Buffer.byteLength(metadata)

/** Returns a memory as it is wanted; if its metadata is what it was, as this stands already, so nothing changes. */
export async function withKnown<R extends MetadataColumns>(known: MetadataColumns, wanted: R): Promise<R> {
  if (known.metadata_id === wanted.metadata_id || lengthIn(known) !== lengthIn(wanted)) return wanted
  if ((await hashIn(known)) !== (await hashIn(wanted))) return wanted
  const { metadata, metadata_id, metadata_bytes } = known
  return { ...wanted, metadata, metadata_id, metadata_bytes }
}

export const notInTime = () => unavailable('Its metadata was not written in time')

/** Writes one part of a text. */
export const writePart = (tx: Db, tenantId: string, id: string, part: number, text: Buffer): Promise<number> =>
  tx.run(`insert into long_metadata (tenant_id, id, part, text) values (?, ?, ?, ${tx.dialect.textOfBytes})`, [
    tenantId,
    id,
    part,
    text,
  ])

/** Notes that nobody names the text, and the memory whose it was, if it was one's. */
export const noteUnnamed = (
  tx: Db,
  { tenant_id, id: memoryId }: MetadataOwner,
  id: string,
  bytes: number,
  now: number,
): Promise<number> =>
  tx.run('insert into unnamed_metadata (tenant_id, id, memory_id, bytes, since) values (?, ?, ?, ?, ?)', [
    tenant_id,
    id,
    memoryId,
    bytes,
    now,
  ])

export interface MetadataOwner {
  tenant_id: string
  id: string | null
}

/**
 * Called in the transaction that writes the metadata of a memory. Returns the columns of metadata that is long and was
 * not written ahead; null for any other, whose columns stay. Throws if what was written ahead is gone: the transaction
 * must not commit.
 */
export async function placeMetadata(tx: Db, memory: WrittenColumns & Named): Promise<MetadataColumns | null> {
  if (memory.metadata_id !== null) await nameMetadata(tx, memory)
  if (memory.metadata.length <= PART / 4) return null
  const bytes = bytesIn(memory.metadata)
  if (bytes.length <= PART) return null
  const id = await nameOf(bytes)
  let part = 0
  for (const text of partsIn(bytes)) await writePart(tx, memory.tenant_id, id, part++, text)
  return beside(id, bytes.length)
}

async function nameMetadata(tx: Db, { tenant_id, id, metadata_id }: Named): Promise<void> {
  if (metadata_id === null) return
  // Ends the note that nobody names the text, unless its deletion has begun.
  const named = await tx.run('delete from unnamed_metadata where tenant_id = ? and id = ? and since > 0', [
    tenant_id,
    metadata_id,
  ])
  if (named > 0 || (await namedByVersions(tx, tenant_id, id, [metadata_id])).has(metadata_id)) return
  throw notInTime()
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
export async function releaseMetadata(tx: Db, memory: Named, dropped: readonly LeftMetadata[], now: number) {
  const left = new Map<string, number>()
  for (const { metadata_id: id, metadata_bytes: bytes } of dropped)
    if (id !== null && id !== memory.metadata_id) left.set(id, bytes!)
  if (left.size === 0) return
  const named = await namedByVersions(tx, memory.tenant_id, memory.id, [...left.keys()])
  for (const [id, bytes] of left) if (!named.has(id)) await noteUnnamed(tx, memory, id, bytes, now)
}
export type LeftMetadata = Pick<MetadataColumns, 'metadata_id' | 'metadata_bytes'>

/**
 * Returns a long text in parts; null if it was erased, or left by all versions more than a minute ago. It is read
 * whole, a part in a turn: of a response that has begun nothing can be left out any more.
 */
export async function readParts(
  db: Reads,
  tenantId: string,
  { metadata_id, metadata_bytes }: LeftMetadata,
): Promise<string[] | null> {
  const parts: string[] = []
  for (let left = metadata_bytes ?? 0; left > 0; ) {
    // One part of a text.
    const row = await one<{ text: string }>(
      db,
      `select ${db.dialect.longText('text', 'text')} from long_metadata where tenant_id = ? and id = ? and part = ?`,
      [tenantId, metadata_id, parts.length],
    )
    if (!row) return null
    left -= Buffer.byteLength(row.text)
    parts.push(row.text)
    await nextTurn()
  }
  return parts
}

/** Returns metadata as one text, for the few who need to look into it. The caller holds the memory. */
export async function wholeMetadata(db: Reads, memory: Pick<MemoryRow, 'tenant_id'> & MetadataColumns) {
  if (memory.metadata_id === null) return memory.metadata
  const parts = await readParts(db, memory.tenant_id, memory)
  if (parts === null) throw new Error('the metadata of a memory is gone')
  return parts.join('')
}
