// A router on a real store, and a tenant whose interests its tests change.
import { makeHandover } from '../../src/delivery/handover.ts'
import { makeWakeups } from '../../src/delivery/wake.ts'
import { insertInterests, type InterestRow } from '../../src/interests/sql.ts'
import { idMaker } from '../../src/kernel/ids.ts'
import { recordRoutingChange } from '../../src/routing/changes.ts'
import { makeRouter, type Router } from '../../src/routing/router.ts'
import type { RoutingTable } from '../../src/routing/table.ts'
import type { Db, Store } from '../../src/store/db.ts'
import { makeQuotas } from '../../src/tenants/quotas.ts'
import { makeSettingsCache } from '../../src/tenants/settings.ts'
import type { Engine } from '../support/engines.ts'
import { serviceForSuite, type TestAgent, type TestTenant } from '../support/service.ts'

let n = 0

function interestRow(
  tenantId: string,
  agentId: string,
  event_type: string,
  filter_expression: string | null = null,
): InterestRow {
  const id = `int_router${++n}`
  return {
    tenant_id: tenantId,
    id,
    agent_id: agentId,
    event_type,
    filter_expression,
    conflict_key: id,
    priority: 0,
    enrichment_depth: 'none',
    active: 1,
    created_at: 0,
    updated_at: 0,
  }
}

export function routerSuite(engine: Engine) {
  const service = serviceForSuite(engine)
  let store: Store
  let tenant: TestTenant
  let agent: TestAgent
  let router: Router

  /** Makes a tenant with an agent, and a router of its own that knows the tenant. */
  async function fresh() {
    store = service.store
    tenant = await service.tenant()
    agent = await tenant.agent()
    router = makeRouter(store, () => {})
    await router.prepare([tenant.id])
    return { store, tenant, agent, router }
  }

  const parts = () => ({
    wakeups: makeWakeups(store),
    handover: makeHandover(() => ({ visibilityTimeoutMs: 30_000, maxAttempts: 5, pushRetryS: [5] })),
    makeId: idMaker(service.clock.now),
    clock: service.clock,
    quotas: makeQuotas(store, service.clock, makeSettingsCache(store).of),
    added() {},
  })
  const subscribe = async (tx: Db, type: string, filter: string | null = null): Promise<void> => {
    const row = interestRow(tenant.id, agent.id, type, filter)
    await insertInterests(tx, [row])
    await recordRoutingChange(tx, tenant.id, 'interest', row.id, 0)
  }
  const tableNow = async (): Promise<RoutingTable> =>
    store.tx(async (tx) => (await router.tables(tx, [tenant.id], false)).get(tenant.id)!)

  return { service, fresh, parts, subscribe, tableNow }
}
