import type { Webhook } from '@sensorium/contract'
import type { Db } from '../../store/db.ts'
import { tenantIdOf, type RegistrationPage } from '../registration.ts'
import { pageWebhooks } from './sql.ts'
import { shownWebhook } from './shown-webhook.ts'

interface WebhookPage {
  webhooks: Webhook[]
  total: number
}

export async function listWebhooks(db: Db, origin: string, page: RegistrationPage): Promise<WebhookPage> {
  const { rows, total } = await pageWebhooks(db, await tenantIdOf(db, page), page.offset ?? 0, page.limit ?? 50)
  return { webhooks: rows.map((row) => shownWebhook(row, origin)), total }
}
