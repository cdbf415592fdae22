// Checks which memories hold a text, in their folded title and content. Runs in the search thread.
import { indexOfLinear } from '@sensorium/cel'
import type { YieldCpu } from '../../kernel/yield-cpu.ts'
import type { Db } from '../../store/db.ts'
import { fold } from './fold.ts'

export interface HoldingRequest {
  tenantId: string
  /** With a space in between: a few thousand strings take a while to send. */
  ids: string
  /** Folded. */
  needle: string
  /** Memories that are gone have no folded text stored, only their original text. */
  isGone: boolean
}

/** Returns the ids of the given memories whose text holds the needle, in the same order and form. */
export async function idsHolding(
  db: Db,
  { tenantId, ids, needle, isGone }: HoldingRequest,
  yieldCpu: YieldCpu,
): Promise<string> {
  const folded = isGone ? fold : (text: string): string => text
  const given = ids.split(' ')
  // The texts of the given memories.
  const texts = await db.rows<{ id: string; title: string; content: string }>(
    `select id, title, content from ${isGone ? 'memories' : 'memory_texts'} where tenant_id = ? and ${db.dialect.inList('id')}`,
    [tenantId, db.dialect.list(given)],
  )
  const held = new Set<string>()
  for (const { id, title, content } of texts) {
    yieldCpu()
    if (indexOfLinear(folded(title), needle) >= 0 || indexOfLinear(folded(content), needle) >= 0) held.add(id)
  }
  return given.filter((id) => held.has(id)).join(' ')
}
