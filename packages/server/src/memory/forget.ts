// Soft deletion: the row stays, with its status; what finds it goes.
import type { Principal } from '../auth/principal.ts'
import type { Db } from '../store/db.ts'
import { holdMemory } from './get.ts'
import { saveMemory } from './sql.ts'
import { unindexFacts } from './facts.ts'
import { unindexText } from './substring.ts'
import { unindexWords } from './words.ts'

export async function forgetMemory(tx: Db, now: number, principal: Principal, id: string): Promise<void> {
  const row = await holdMemory(tx, principal, id, now)
  await saveMemory(tx, { ...row, status: 'deleted', updated_at: now })
  await unindexText(tx, row.tenant_id, id)
  await unindexWords(tx, row.tenant_id, id)
  await unindexFacts(tx, row.tenant_id, id)
}
