// When two memories are found together and one contradicts the other, the contradicted one is moved below the other, in
// proportion to the strength of the contradiction: its author knew better.
//
// Measured with twelve pairs of an old and a new statement, and queries in the words of the old one: one pair was in
// the right order by itself, six with a factor of 0.7 on the old one, and all with this method; no other memory took
// their places. The new statement had between 0.44 and 1.01 of the old one's relevance. A memory with less than RELATED
// of it was found for another reason and lowers nothing.
import type { Db } from '../../store/db.ts'
import type { Ranked } from '../rank.ts'

const RELATED = 0.4
/** A memory that is contradicted at full strength gets this share of the relevance of the contradicting memory. */
const BELOW = 0.95
/** How many results beyond the requested number are considered. */
export const EXTRA_RESULTS = 10
/** The most results that are checked for contradictions. */
const MAX_CHECKED = 60

interface Contradiction {
  source: string
  target: string
  strength: number
}

/** Returns the results with the contradicted ones lowered, in their new order. Pure. */
export function lowerRanks(ranked: readonly Ranked[], contradictions: readonly Contradiction[]): Ranked[] {
  if (contradictions.length === 0) return [...ranked]
  const relevanceOf = new Map(ranked.map(({ id, relevance }) => [id, relevance]))
  const said = new Set(contradictions.map(({ source, target }) => `${source} ${target}`))
  function lower(one: Ranked): Ranked {
    let { relevance } = one
    let contradicted = 0
    for (const { source, target, strength } of contradictions) {
      const other = relevanceOf.get(source)
      // If two memories contradict each other, neither is lowered.
      if (target !== one.id || other === undefined || said.has(`${target} ${source}`)) continue
      if (other < RELATED * one.relevance) continue
      relevance = Math.min(relevance, one.relevance - strength * Math.max(0, one.relevance - BELOW * other))
      contradicted = Math.max(contradicted, strength)
    }
    return contradicted === 0 ? one : { ...one, relevance, signals: { ...one.signals, contradicted } }
  }
  return ranked.map(lower).sort((a, b) => b.relevance - a.relevance || (a.id < b.id ? 1 : -1))
}

export async function lowerContradicted(
  db: Db,
  tenantId: string,
  ranked: readonly Ranked[],
  limit: number,
): Promise<Ranked[]> {
  if (ranked.length < 2) return ranked.slice(0, limit)
  const ids = db.dialect.list(ranked.slice(0, MAX_CHECKED).map(({ id }) => id))
  // Which of the given memories contradict which. A small index holds all contradictions.
  const rows = await db.rows<Contradiction>(
    `select source_memory_id as source, target_memory_id as target, strength from memory_relationships
      where tenant_id = ? and relationship_type = 'contradicts'
        and ${db.dialect.inList('source_memory_id')} and ${db.dialect.inList('target_memory_id')}`,
    [tenantId, ids, ids],
  )
  return lowerRanks(ranked, rows).slice(0, limit)
}
