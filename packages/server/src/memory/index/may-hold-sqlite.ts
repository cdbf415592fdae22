// Selects the memories that can hold a text, by their grams in FTS5.
import { askedOf, audiencesFor, gramWord, seedOf, type MayHold } from './grams.ts'

export const mayHold: MayHold = (viewer, needle) => {
  const seed = seedOf(viewer.tenantId)
  const { grams, characters } = askedOf(needle, seed)
  const audiences = audiencesFor(viewer, seed)
  const all = (hashes: readonly number[]): string => `(${hashes.map(gramWord).join(' AND ')})`
  const seen = audiences.length > 0 ? ` AND (${audiences.map(gramWord).join(' OR ')})` : ''
  // The plus keeps SQLite from scanning all texts of the tenant instead.
  return {
    sql: '+t.tenant_id = ? and t.doc in (select rowid from memory_grams where memory_grams match ?)',
    values: [viewer.tenantId, `(${all(grams)} OR ${all(characters)})${seen}`],
  }
}
