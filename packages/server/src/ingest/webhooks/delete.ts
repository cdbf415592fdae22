import { notFound } from '../../kernel/failure.ts'
import type { Db } from '../../store/db.ts'
import { deleteWebhookRow } from './sql.ts'
import { requireWebhook } from './shown-webhook.ts'

export async function deleteWebhook(db: Db, id: string): Promise<void> {
  const row = await requireWebhook(db, id)
  if ((await deleteWebhookRow(db, row.tenant_id, id)) === 0) throw notFound('webhook', id)
}
