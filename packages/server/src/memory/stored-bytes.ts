// The bytes of memories and relationships that count against their tenant's quota of stored bytes. A change counts the
// bytes it adds or removes, so that erasure gives back exactly what was counted.
import type { WrittenMemory } from './sql.ts'

export const storedBytes = ({
  title,
  content,
  metadata,
  metadata_bytes,
}: Pick<WrittenMemory, 'title' | 'content' | 'metadata' | 'metadata_bytes'>): number =>
  Buffer.byteLength(title) + Buffer.byteLength(content) + (metadata_bytes ?? Buffer.byteLength(metadata))

/** What a relationship without metadata counts: its row and its entries in the indexes. */
const RELATIONSHIP = 300

export const relationshipBytes = ({ metadata }: { metadata: string | null }): number =>
  RELATIONSHIP + Buffer.byteLength(metadata ?? '')

/** The same in SQL. */
export const RELATIONSHIP_BYTES = `${RELATIONSHIP} + octet_length(coalesce(metadata, ''))`

export const sumOfBytes = (rows: readonly { bytes: number }[]): number =>
  rows.reduce((sum, { bytes }) => sum + bytes, 0)
