// Soft deletion: the row stays, with its status; what finds it goes.
import type { Principal } from '../auth/principal.ts'
import type { Db } from '../store/db.ts'
import { holdMemory } from './get.ts'
import type { MemoryTools } from './remember.ts'
import { saveMemory } from './sql.ts'

export async function forgetMemory(
  tx: Db,
  tools: Pick<MemoryTools, 'now' | 'index'>,
  principal: Principal,
  id: string,
): Promise<void> {
  const now = tools.now()
  const row = await holdMemory(tx, principal, id, now)
  await saveMemory(tx, { ...row, status: 'deleted', updated_at: now })
  await tools.index.remove(tx, row.tenant_id, id)
}
