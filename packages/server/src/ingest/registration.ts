// What registering webhooks and connectors has in common.
import type { MakeId } from '../kernel/ids.ts'
import type { Secrets } from '../kernel/secrets.ts'
import type { Announce } from '../store/announce.ts'
import type { Db } from '../store/db.ts'
import { requireTenant } from '../tenants/create.ts'

export interface IngestTools {
  makeId: MakeId
  secrets: Secrets
  announce: Announce
  now(): number
}

/** A page of a list: of one tenant, named by its slug, or of all. */
export interface Page {
  tenant?: string
  offset?: number
  limit?: number
}

export interface Rows<R> {
  rows: R[]
  total: number
}

/** The id of the tenant that a page is about; null for all of them. */
export const tenantIdOf = async (db: Db, { tenant }: Page): Promise<string | null> =>
  tenant === undefined ? null : (await requireTenant(db, tenant)).tenant_id
