// Shared by the registration of webhooks and of connectors.
import type { MakeId } from '../kernel/ids.ts'
import type { Secrets } from '../kernel/secrets.ts'
import type { Announce } from '../store/announce.ts'
import type { Db } from '../store/db.ts'
import { requireTenant } from '../tenants/get.ts'

export interface IngestTools {
  makeId: MakeId
  secrets: Secrets
  announce: Announce
  now(): number
}

/** Selects a page of a list: of one tenant, named by its slug, or of all tenants. */
export interface RegistrationPage {
  tenant?: string
  offset?: number
  limit?: number
}

export interface Rows<R> {
  rows: R[]
  total: number
}

/** Returns the id of the tenant that a page is about, or null for all tenants. */
export const tenantIdOf = async (db: Db, { tenant }: RegistrationPage): Promise<string | null> =>
  tenant === undefined ? null : (await requireTenant(db, tenant)).tenant_id
