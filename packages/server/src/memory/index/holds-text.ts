// Inside the search thread: which memories hold a text, read in their folded title and content.
import { indexOfLinear } from '@sensorium/cel'
import type { YieldCpu } from '../../kernel/yield-cpu.ts'
import type { Db } from '../../store/db.ts'

/** Those of given memories whose text holds the needle, in the same order. */
export async function idsHolding(
  db: Db,
  tenantId: string,
  ids: readonly string[],
  needle: string,
  yieldCpu: YieldCpu,
): Promise<string[]> {
  // The folded texts of given memories.
  const texts = await db.rows<{ id: string; title: string; content: string }>(
    `select id, title, content from memory_texts where tenant_id = ? and ${db.dialect.inList('id')}`,
    [tenantId, db.dialect.list(ids)],
  )
  const held = new Set<string>()
  for (const { id, title, content } of texts) {
    yieldCpu()
    if (indexOfLinear(title, needle) >= 0 || indexOfLinear(content, needle) >= 0) held.add(id)
  }
  return ids.filter((id) => held.has(id))
}
