// The audit log: who changed what in a tenant, and when. An operation of the contract says of itself that it leaves an
// entry, and which fields of its body may be shown; perform.ts writes it in the transaction of the change.
//
// 1. An entry is there exactly when the change is; of a change in several transactions, when any of them is.
// 2. No secret is in it: of a body only the fields that the contract names are shown.
// 3. What the operator does to a tenant stands in the log of that tenant.
import type { Operation } from '@sensorium/contract'
import type { Principal } from '../auth/principal.ts'
import { iso } from '../kernel/clock.ts'
import type { MakeId } from '../kernel/ids.ts'
import type { Db, Store } from '../store/db.ts'
import { purge } from '../store/purge.ts'
import { ENTRIES, insertEntry, pageEntries, tenantOf, type AuditQuery } from './sql.ts'

export interface AuditedCall {
  operation: Operation
  principal: Principal
  params: Readonly<Record<string, string | undefined>>
  body: unknown
  requestId: string | undefined
}

export interface Audit {
  /** Whose log an entry goes to; null where that is not known yet. To be asked before the change: it may delete. */
  tenantOf(tx: Db, call: AuditedCall): Promise<string | null>
  /** `resourceId`: what was made. */
  write(tx: Db, call: AuditedCall, tenantId: string | null, resourceId: string | undefined): Promise<void>
}

const DAY_MS = 86_400_000
const LONGEST_SHOWN = 200
export const PRUNE_EVERY_MS = 3_600_000

const fieldsOf = (body: unknown): Record<string, unknown> =>
  typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}

const cut = (value: unknown): unknown =>
  typeof value === 'string' && value.length > LONGEST_SHOWN ? `${value.slice(0, LONGEST_SHOWN).toWellFormed()}…` : value

/** Changes nothing. Only where the operation has such a field: elsewhere it is an unknown one, and ignored. */
const isOnlyTried = ({ operation, body }: AuditedCall): boolean =>
  'dry_run' in (operation.body?.properties ?? {}) && fieldsOf(body)['dry_run'] === true

function detailsOf({ operation, principal, params, body }: AuditedCall): Record<string, unknown> {
  const fields = fieldsOf(body)
  const shown = (operation.audit ?? []).filter((name) => fields[name] !== undefined)
  return {
    ...params,
    ...Object.fromEntries(shown.map((name) => [name, cut(fields[name])])),
    ...(principal.keyId === '' ? {} : { actor_key_id: principal.keyId }),
  }
}

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
      if (isOnlyTried(call)) return
      // A tenant that is made has its log from now on.
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
        details: JSON.stringify(detailsOf(call)),
      })
    },
  }
}

export async function listAudit(
  db: Db,
  tenantId: string,
  query: AuditQuery,
): Promise<{ entries: object[]; total: number }> {
  const { rows, total } = await pageEntries(db, tenantId, query)
  const entries = rows.map(({ id, at, actor, action, resource, request_id, details }) => ({
    id,
    at: iso(at),
    actor,
    action,
    resource,
    request_id,
    details: JSON.parse(details) as object,
  }))
  return { entries, total }
}

/** Forgets what is older than so many days; returns how many entries that were. */
export const pruneAudit = (store: Store, now: number, days: number): Promise<number> =>
  purge(store, ENTRIES, now - days * DAY_MS)
