import { notFound } from '../../kernel/failure.ts'
import { recordRoutingChange } from '../../routing/changes.ts'
import type { Db } from '../../store/db.ts'
import type { IngestTools } from '../registration.ts'
import { deleteWebhookRow } from './sql.ts'
import { requireWebhook } from './shown-webhook.ts'

export async function deleteWebhook(db: Db, { now }: Pick<IngestTools, 'now'>, id: string): Promise<void> {
  const row = await requireWebhook(db, id)
  if ((await deleteWebhookRow(db, row.tenant_id, id)) === 0) throw notFound('webhook', id)
  await recordRoutingChange(db, row.tenant_id, 'source', id, now())
}
