// The rows of webhooks. The operator serves every tenant: its queries go by id.
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
  /** `OldSecret[]` as JSON: those from before that still hold. */
  old_secrets: string
  active: number
  created_at: number
}

/** A secret that was rotated away, and when it ends. */
export interface OldSecret {
  sealed: string
  until: number
}

/** The secrets from before that hold at a time, newest first. */
export const holdingSecrets = ({ old_secrets }: WebhookRow, time: number): OldSecret[] =>
  (JSON.parse(old_secrets) as OldSecret[]).filter(({ until }) => time < until)

const WEBHOOK = `w.tenant_id, t.slug, w.id, w.source, w.preset, w.mapping,
  w.secret, w.old_secrets, w.active, w.created_at
  from webhooks w join tenants t on t.tenant_id = w.tenant_id`

/**
 * Whoever gives a webhook of the tenant a secret does it alone until the transaction ends: what it has seen of the others
 * holds.
 */
export const lockWebhooks = (db: Db, tenantId: string): Promise<void> => db.lock([`webhooks ${tenantId}`], 'exclusive')

export const insertWebhook = (db: Db, r: WebhookRow): Promise<number> =>
  db.run(
    `insert into webhooks (tenant_id, id, source, preset, mapping, secret, old_secrets, active, created_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [r.tenant_id, r.id, r.source, r.preset, r.mapping, r.secret, r.old_secrets, r.active, r.created_at],
  )

/** The active webhooks behind a slug, oldest first; none for an unknown slug. */
export const webhooksOfSlug = (db: Db, slug: string) =>
  db.rows<WebhookRow>(`select ${WEBHOOK} where t.slug = ? and w.active = 1 order by w.id`, [slug])

/** That webhook alone, if it is active and behind that slug. */
export const webhookOfSlug = (db: Db, slug: string, id: string) =>
  db.rows<WebhookRow>(`select ${WEBHOOK} where t.slug = ? and w.id = ? and w.active = 1`, [slug, id])

export const findWebhook = (db: Db, id: string) => one<WebhookRow>(db, `select ${WEBHOOK} where w.id = ?`, [id])

/** A page of the webhooks of a tenant, or of all, newest first. */
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

/**
 * Puts a new secret in the place of the one the row has, and these beside it; changes nothing if that is another by
 * now.
 */
export const replaceSecret = (db: Db, row: WebhookRow, secret: string, old: readonly OldSecret[]): Promise<number> =>
  db.run('update webhooks set secret = ?, old_secrets = ? where tenant_id = ? and id = ? and secret = ?', [
    secret,
    JSON.stringify(old),
    row.tenant_id,
    row.id,
    row.secret,
  ])

export const deleteWebhookRow = (db: Db, tenantId: string, id: string): Promise<number> =>
  db.run('delete from webhooks where tenant_id = ? and id = ?', [tenantId, id])
