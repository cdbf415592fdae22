// The entries of changes in several transactions that end halfway.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StoreUnavailable } from '../../src/store/db.ts'
import { ids, interest, poll, publish } from '../events/tools.ts'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { serviceForSuite, type TestTenant } from '../support/service.ts'

onBothEngines((engine) => {
  const service = serviceForSuite(engine)

  /** Returns the resources of a tenant's entries of an action. */
  const resources = async ({ admin }: TestTenant, action: string): Promise<(string | null)[]> => {
    const { body } = await service.call(`GET /v1/audit?action=${action}`, { token: admin })
    return body.entries.map(({ resource }: { resource: string | null }) => resource)
  }

  /** Makes the store refuse to delete this delivery. */
  async function refuseToDelete(id: string): Promise<void> {
    const statements =
      engine.name === 'sqlite'
        ? [`create trigger kept before delete on deliveries when old.id = '${id}' begin select raise(abort, 'no'); end`]
        : [
            "create or replace function refuse() returns trigger language plpgsql as 'begin raise exception ''no''; end'",
            `create trigger kept before delete on deliveries for each row when (old.id = '${id}') execute function refuse()`,
          ]
    await service.store.tx(async (tx) => {
      for (const statement of statements) await tx.run(statement)
    })
  }

  for (const [what, headers, entries] of [
    ['another one leaves its own', {}, 2],
    ['one that goes on from there under its key leaves none', { 'idempotency-key': 'halfway' }, 1],
  ] as const)
    test(`[CON-18] a change that fails halfway leaves an entry, and ${what}`, async () => {
      const tenant = await service.tenant()
      const agent = await tenant.agent()
      await interest(service, agent, { event_type: 'long' })
      // This takes two steps, because of the limit of bytes in a step.
      for (const n of [1, 2, 3]) {
        await publish(service, agent.token, { type: 'long', data: { n, text: 'x'.repeat(600_000) } })
        const delivery_ids = ids(await poll(service, agent.token))
        await service.call('POST /v1/delivery/nack', { token: agent.token, body: { delivery_ids, dead_letter: true } })
        await service.clock.advance(1_000)
      }
      const discard = () =>
        service.call('POST /v1/delivery/dlq/discard', { token: agent.token, body: { filter: {}, limit: 2 }, headers })
      const left = async (): Promise<{ id: string }[]> =>
        (await service.call('GET /v1/delivery/dlq', { token: agent.token })).body.dlq_items
      // The newest goes first.
      await refuseToDelete((await left())[1]!.id)
      assertError(await discard(), 'internal_error')
      assert.equal((await left()).length, 2)
      assert.equal((await resources(tenant, 'discardDeadLetters')).length, 1)
      await service.store.tx((tx) => tx.run(`drop trigger kept ${engine.name === 'sqlite' ? '' : 'on deliveries'}`))
      assert.equal((await discard()).body.discarded, 2)
      assert.equal((await resources(tenant, 'discardDeadLetters')).length, entries)
    })

  test('[CON-18] an interest whose backfill is cut short leaves its entry with the interest', async (t) => {
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    await publish(service, agent.token, { type: 'a.b' })
    const { store } = service
    const { tx } = store
    let left = 1
    t.after(() => (store.tx = tx))
    // The store goes away after the first of the two transactions.
    store.tx = (work, options) =>
      left-- > 0 ? tx(work, options) : Promise.reject(new StoreUnavailable('away', { trouble: 'away' }))
    const body = { event_type: 'a.*', priority: 0, enrichment_depth: 'none', backfill: 1 }
    const create = () =>
      service.call(`POST /v1/agents/${agent.id}/interests`, {
        token: agent.token,
        body,
        headers: { 'idempotency-key': 'cut' },
      })
    assertError(await create(), 'service_unavailable')
    store.tx = tx
    const listed = await service.call(`GET /v1/agents/${agent.id}/interests`, { token: agent.token })
    const found: string[] = listed.body.interests.map(({ id }: { id: string }) => id)
    assert.equal(found.length, 1)
    assert.deepEqual(await resources(tenant, 'createInterest'), found)
    await service.clock.jump(31_000)
    const again = await create()
    assert.deepEqual([again.status, again.body.id], [201, found[0]])
    assert.deepEqual(await resources(tenant, 'createInterest'), found)
  })
})
