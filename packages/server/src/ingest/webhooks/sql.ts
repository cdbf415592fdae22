// The rows of webhooks. The operator serves every tenant, so its queries select by id.
import { one, type Db } from '../../store/db.ts'
import type { Rows } from '../registration.ts'

export interface WebhookRow {
  tenant_id: string
  slug: string
  id: string
  source: string
  preset: string | null
  mapping: string
  secret: string
  /** `OldSecret[]` as JSON: earlier secrets that were still valid at the last rotation. */
  old_secrets: string
  active: number
  created_at: number
}

/** A secret that was rotated away, and when it stops being valid. */
interface OldSecret {
  sealed: string
  until: number
}

/** Returns the earlier secrets that are valid at a time, newest first. */
export const validOldSecrets = ({ old_secrets }: WebhookRow, time: number): OldSecret[] =>
  (JSON.parse(old_secrets) as OldSecret[]).filter(({ until }) => time < until)

const WEBHOOK = `w.tenant_id, t.slug, w.id, w.source, w.preset, w.mapping,
  w.secret, w.old_secrets, w.active, w.created_at
  from webhooks w join tenants t on t.tenant_id = w.tenant_id`

/**
 * Locks the webhooks of a tenant until the transaction ends. Only one transaction at a time gives a webhook a secret,
 * so what it has read of the other webhooks stays true.
 */
export const lockWebhooks = (db: Db, tenantId: string): Promise<void> => db.lock([`webhooks ${tenantId}`], 'exclusive')

/** Adds a webhook. The caller holds `lockWebhooks`. */
export const insertWebhook = (db: Db, r: WebhookRow): Promise<number> =>
  db.run(
    `insert into webhooks (tenant_id, id, source, preset, mapping, secret, old_secrets, active, created_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [r.tenant_id, r.id, r.source, r.preset, r.mapping, r.secret, r.old_secrets, r.active, r.created_at],
  )

/** Returns the active webhooks of a slug, oldest first; none for an unknown slug. */
export const webhooksOfSlug = (db: Db, slug: string) =>
  db.rows<WebhookRow>(`select ${WEBHOOK} where t.slug = ? and w.active = 1 order by w.id`, [slug])

/** Returns one webhook, if it is active and belongs to the slug. */
export const webhookOfSlug = (db: Db, slug: string, id: string) =>
  db.rows<WebhookRow>(`select ${WEBHOOK} where t.slug = ? and w.id = ? and w.active = 1`, [slug, id])

/** Returns a webhook of any tenant. Locks nothing. */
export const findWebhook = (db: Db, id: string) => one<WebhookRow>(db, `select ${WEBHOOK} where w.id = ?`, [id])

/** Returns a page of the webhooks of one tenant, or of all tenants, newest first. */
export async function pageWebhooks(
  db: Db,
  tenantId: string | null,
  offset: number,
  limit: number,
): Promise<Rows<WebhookRow>> {
  const where = tenantId === null ? '' : 'where w.tenant_id = ?'
  const scope = tenantId === null ? [] : [tenantId]
  const rows = await db.rows<WebhookRow>(`select ${WEBHOOK} ${where} order by w.id desc limit ? offset ?`, [
    ...scope,
    limit,
    offset,
  ])
  const count = await one<{ n: number }>(db, `select count(*) as n from webhooks w ${where}`, scope)
  return { rows, total: count?.n ?? 0 }
}

/** Replaces the secret of a row and its old secrets. Changes nothing if another secret was stored meanwhile. */
export const replaceSecret = (db: Db, row: WebhookRow, secret: string, old: readonly OldSecret[]): Promise<number> =>
  db.run('update webhooks set secret = ?, old_secrets = ? where tenant_id = ? and id = ? and secret = ?', [
    secret,
    JSON.stringify(old),
    row.tenant_id,
    row.id,
    row.secret,
  ])

/** Deletes a webhook, and returns how many rows were deleted. */
export const deleteWebhookRow = (db: Db, tenantId: string, id: string): Promise<number> =>
  db.run('delete from webhooks where tenant_id = ? and id = ?', [tenantId, id])
