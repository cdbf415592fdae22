// Soft deletion: the row stays, marked as deleted; its index entries go.
import type { Principal } from '../auth/principal.ts'
import type { Db } from '../store/db.ts'
import { holdHead } from './get.ts'
import type { MemoryTools } from './remember.ts'
import { markDeleted } from './sql.ts'

export async function forgetMemory(
  tx: Db,
  tools: Pick<MemoryTools, 'now' | 'index'>,
  principal: Principal,
  id: string,
): Promise<void> {
  const now = tools.now()
  const head = await holdHead(tx, principal, id, now)
  await markDeleted(tx, head, now)
  await tools.index.remove(tx, head.tenant_id, id)
}
