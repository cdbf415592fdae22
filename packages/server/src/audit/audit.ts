// The audit log: who changed what in a tenant, and when. An operation of the contract declares that it leaves an entry,
// and which fields of its body may be shown; perform.ts writes the entry in the transaction of the change.
//
// 1. An entry exists exactly when the change does; of a change in several transactions, when any of them does.
// 2. It contains no secret: only the body fields that the contract names are shown.
// 3. It is short, whatever was sent: see details.ts.
// 4. What the operator does to a tenant is in the log of that tenant.
import type { Operation } from '@sensorium/contract'
import type { Principal } from '../auth/principal.ts'
import { DAY_MS, iso } from '../kernel/clock.ts'
import type { MakeId } from '../kernel/ids.ts'
import type { Pause } from '../kernel/step-turns.ts'
import type { Db, Store } from '../store/db.ts'
import { purge } from '../store/purge.ts'
import { detailsOf, fieldsOf } from './details.ts'
import { pageEntries } from './page-entries.ts'
import { AGING_ENTRIES, insertEntry, tenantOf, type AuditQuery } from './sql.ts'

export interface AuditedCall {
  operation: Operation
  principal: Principal
  params: Readonly<Record<string, string | undefined>>
  body: unknown
  requestId: string | undefined
}

export interface Audit {
  /**
   * Returns the tenant whose log an entry goes to, or null if that is not known yet. Call it before the change, which
   * may delete what the tenant is found by.
   */
  tenantOf(tx: Db, call: AuditedCall): Promise<string | null>
  /** Writes the entry. `resourceId` is the id of what was made. */
  write(tx: Db, call: AuditedCall, tenantId: string | null, resourceId: string | undefined): Promise<void>
}

/**
 * Whether the call is a dry run, which changes nothing. Only if the operation has such a field: elsewhere it is an
 * unknown field, and ignored.
 */
const isDryRun = ({ operation, body }: AuditedCall): boolean =>
  'dry_run' in (operation.body?.properties ?? {}) && fieldsOf(body)['dry_run'] === true

export function makeAudit(makeId: MakeId, now: () => number): Audit {
  async function operatorsTenant(tx: Db, { operation, params, body }: AuditedCall): Promise<string | null> {
    const { slug, tenant } = fieldsOf(body)
    const name = params['slug'] ?? slug ?? tenant
    if (typeof name === 'string') return tenantOf(tx, 'tenants', name)
    const [, kind] = /^\/operator\/(webhooks|connectors)\/\{id\}/.exec(operation.path) ?? []
    return kind && params['id'] ? tenantOf(tx, kind as 'webhooks' | 'connectors', params['id']) : null
  }

  return {
    tenantOf: async (tx, call) =>
      call.principal.tenantId === '' ? operatorsTenant(tx, call) : call.principal.tenantId,
    async write(tx, call, known, resourceId) {
      if (isDryRun(call)) return
      // A tenant that was made by this call has its log from now on.
      const tenantId = known ?? (await operatorsTenant(tx, call))
      if (tenantId === null) return
      insertEntry(tx, {
        tenant_id: tenantId,
        at: now(),
        id: makeId('audit_entry'),
        actor: call.principal.id,
        action: call.operation.id,
        resource: resourceId ?? Object.values(call.params).at(-1) ?? null,
        request_id: call.requestId ?? null,
        details: JSON.stringify(detailsOf({ ...call, keyId: call.principal.keyId })),
      })
    },
  }
}

/**
 * Returns a page of the log as JSON. The details are inserted as the text that is stored: a page may have megabytes.
 */
export async function listAudit(db: Db, tenantId: string, query: AuditQuery, pause: Pause): Promise<string> {
  const { rows, total } = await pageEntries(db, tenantId, query, pause)
  const entries = rows.map(({ id, at, actor, action, resource, request_id, details }) => {
    const entry = JSON.stringify({ id, at: iso(at), actor, action, resource, request_id })
    return `${entry.slice(0, -1)},"details":${details}}`
  })
  return `{"entries":[${entries.join(',')}],"total":${total}}`
}

/** Deletes entries that are older than `days` days, and returns how many. */
export const pruneAudit = (store: Store, now: number, days: number): Promise<number> =>
  purge(store, AGING_ENTRIES, now - days * DAY_MS)
