// The bytes of a memory that count against its tenant's quota of stored bytes. A change counts the bytes it adds or
// removes, so that erasure gives back exactly what was counted.
import type { WrittenMemory } from './sql.ts'

export const storedBytes = ({
  title,
  content,
  metadata,
}: Pick<WrittenMemory, 'title' | 'content' | 'metadata'>): number =>
  [title, content, metadata].reduce<number>((sum, text) => sum + Buffer.byteLength(text), 0)
