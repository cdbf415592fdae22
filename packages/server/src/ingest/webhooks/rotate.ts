import type { Db } from '../../store/db.ts'
import type { IngestTools } from '../registration.ts'
import { validOldSecrets, lockWebhooks, replaceSecret, webhooksOfSlug } from './sql.ts'
import {
  refuseShared,
  requireKey,
  requireWebhook,
  secretOf,
  shownWebhook,
  webhookContext,
  type MadeWebhook,
} from './shown-webhook.ts'

/** How long a replaced secret remains valid. */
const ROTATION_MS = 24 * 3_600_000
/** With the current secret that makes four, the least number of secrets that a body of any size is tried with. */
const MAX_OLD = 3

/** Gives a webhook a new secret. The secret before it remains valid for a day. */
export async function rotateWebhook(
  db: Db,
  tools: IngestTools,
  origin: string,
  id: string,
  given?: string,
): Promise<Pick<MadeWebhook, 'webhook' | 'signing_secret'>> {
  const signing_secret = secretOf(given)
  const sealed = tools.secrets.seal(signing_secret, webhookContext(id))
  for (;;) {
    const row = await requireWebhook(db, id)
    if (given !== undefined) {
      requireKey(row.preset, given)
      await lockWebhooks(db, row.tenant_id)
      refuseShared(tools.secrets, await webhooksOfSlug(db, row.slug), given)
    }
    const before = { sealed: row.secret, until: tools.now() + ROTATION_MS }
    const old = [before, ...validOldSecrets(row, tools.now())].slice(0, MAX_OLD)
    // A concurrent rotation has returned its secret to a caller too: read again, so that it becomes an old secret.
    if ((await replaceSecret(db, row, sealed, old)) > 0) return { webhook: shownWebhook(row, origin), signing_secret }
  }
}
