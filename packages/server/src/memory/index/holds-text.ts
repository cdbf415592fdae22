// Inside the search thread: which memories hold a text, read in their folded title and content.
import { indexOfLinear } from '@sensorium/cel'
import type { YieldCpu } from '../../kernel/yield-cpu.ts'
import type { Db } from '../../store/db.ts'
import { fold } from './fold.ts'

export interface HoldingRequest {
  tenantId: string
  ids: readonly string[]
  /** Folded. */
  needle: string
  /** Memories that are gone have no folded text, only the one that came in. */
  isGone: boolean
}

/** Those of given memories whose text holds the needle, in the same order. */
export async function idsHolding(
  db: Db,
  { tenantId, ids, needle, isGone }: HoldingRequest,
  yieldCpu: YieldCpu,
): Promise<string[]> {
  const folded = isGone ? fold : (text: string): string => text
  // The texts of given memories.
  const texts = await db.rows<{ id: string; title: string; content: string }>(
    `select id, title, content from ${isGone ? 'memories' : 'memory_texts'} where tenant_id = ? and ${db.dialect.inList('id')}`,
    [tenantId, db.dialect.list(ids)],
  )
  const held = new Set<string>()
  for (const { id, title, content } of texts) {
    yieldCpu()
    if (indexOfLinear(folded(title), needle) >= 0 || indexOfLinear(folded(content), needle) >= 0) held.add(id)
  }
  return ids.filter((id) => held.has(id))
}
