// Of two memories that are found together, and of which one contradicts the other, the contradicted one is brought below
// the one that contradicts it, by the strength of that: who wrote the contradiction knew better.
//
// Of twelve pairs of an old fact and a new one, asked in the words of the old, one was in order by itself, six with a
// factor of 0.7 on the old one, and all this way; nothing else took their places. The new fact had between 0.44 and 1.01
// of the old one's relevance: what has less than RELATED of it is found for another reason, and lowers nothing.
import type { Db } from '../../store/db.ts'
import type { Ranked } from '../rank.ts'

const RELATED = 0.4
/** Where a memory comes that is contradicted with full strength: of the relevance of what contradicts it. */
const BELOW = 0.95
/** How many are looked at beyond those that were asked for. */
export const BEYOND = 10
/** And at the most. */
const MOST = 60

export interface Contradiction {
  source: string
  target: string
  strength: number
}

/** Nothing here reads: what was found with the contradicted ones lowered, in their new order. */
export function lowered(ranked: readonly Ranked[], contradictions: readonly Contradiction[]): Ranked[] {
  if (contradictions.length === 0) return [...ranked]
  const relevanceOf = new Map(ranked.map(({ id, relevance }) => [id, relevance]))
  const said = new Set(contradictions.map(({ source, target }) => `${source} ${target}`))
  function lower(one: Ranked): Ranked {
    let { relevance } = one
    let contradicted = 0
    for (const { source, target, strength } of contradictions) {
      const other = relevanceOf.get(source)
      // Of two that contradict each other neither is the one that knew better.
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
  const ids = db.dialect.list(ranked.slice(0, MOST).map(({ id }) => id))
  // Which of given memories contradict which: a small index has all there are.
  const rows = await db.rows<Contradiction>(
    `select source_memory_id as source, target_memory_id as target, strength from memory_relationships
      where tenant_id = ? and relationship_type = 'contradicts'
        and ${db.dialect.inList('source_memory_id')} and ${db.dialect.inList('target_memory_id')}`,
    [tenantId, ids, ids],
  )
  return lowered(ranked, rows).slice(0, limit)
}
