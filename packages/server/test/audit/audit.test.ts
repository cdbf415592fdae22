// The audit log: which caller changed what.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operations, type Operation } from '@sensorium/contract'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { OPERATOR_TOKEN, serviceForSuite, type TestAgent, type TestTenant } from '../support/service.ts'
import { ids, interest, poll, publish } from '../events/tools.ts'

interface Entry {
  id: string
  at: string
  actor: string
  action: string
  resource: string | null
  request_id: string | null
  details: Record<string, unknown>
}

/** Management operations. What an agent does with its own deliveries and memories is not audited. */
const CHANGES = /^(agents|channels|delivery\/dlq|operator)/

test('[CON-17] every operation on agents, channels, dead letters or for the operator leaves an entry', () => {
  const without = (Object.values(operations) as Operation[])
    .filter(({ method, path }) => method !== 'GET' && CHANGES.test(path.slice(1)))
    .filter(({ audit }) => audit === undefined)
    .map(({ id }) => id)
  assert.deepEqual(without, ['sendTestEvent'])
})

test('[CON-19] no field that is shown is a secret', () => {
  for (const { id, audit = [], secrets = [] } of Object.values(operations) as Operation[])
    for (const field of audit)
      assert.ok(!secrets.includes(field) && !/secret|password|url|key$/.test(field), `${id} ${field}`)
})

onBothEngines((engine) => {
  const service = serviceForSuite(engine)

  const audit = async (tenant: TestTenant, query = ''): Promise<{ entries: Entry[]; total: number }> =>
    (await service.call(`GET /v1/audit${query}`, { token: tenant.admin })).body
  const actions = async (tenant: TestTenant, query = '') =>
    (await audit(tenant, query)).entries.map(({ action }) => action)

  test('[CON-17] an entry has the actor, the action, the time and the request', async () => {
    const tenant = await service.tenant()
    const agent = await tenant.agent({ name: 'Watcher' })
    await interest(service, agent, { event_type: 'a.b' })
    await service.call(`PATCH /v1/agents/${agent.id}`, {
      token: agent.token,
      body: { name: 'Renamed', delivery_endpoint: 'https://user:hunter2@example.com/x?key=hunter2' },
      headers: { 'x-request-id': 'rename-1' },
    })
    const { entries, total } = await audit(tenant)
    assert.deepEqual(
      entries.map(({ action }) => action),
      ['updateAgent', 'createInterest', 'mintKey', 'registerAgent'],
    )
    assert.equal(total, 4)
    const { id, ...changed } = entries[0]!
    assert.match(id, /^aud_/)
    assert.deepEqual(changed, {
      at: new Date(service.clock.now()).toISOString(),
      actor: agent.id,
      action: 'updateAgent',
      resource: agent.id,
      request_id: 'rename-1',
      // Who redirects all deliveries of an agent is what an audit log is asked for.
      details: {
        id: agent.id,
        name: 'Renamed',
        delivery_endpoint: 'https://example.com/x',
        actor_key_id: agent.keyId,
      },
    })
    assert.equal(entries[3]!.resource, agent.id)
    assert.match(entries[3]!.actor, /^adm_/)
    assert.equal(entries[2]!.resource, agent.keyId)
    assert.doesNotMatch(JSON.stringify(entries), /ak_live_|hunter2/)
  })

  test('[CON-18] a field that the operation does not have hides no change', async () => {
    const tenant = await service.tenant()
    const body = { name: 'Hidden', delivery_mode: 'poll', client_type: 'other', dry_run: true }
    assert.equal((await service.call('POST /v1/agents', { token: tenant.admin, body })).status, 201)
    assert.deepEqual(await actions(tenant), ['registerAgent'])
  })

  test('[CON-17] entries are found by actor, action and time, page by page', async () => {
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    await service.clock.advance(1_000)
    const noon = new Date(service.clock.now()).toISOString()
    await service.call(`POST /v1/agents/${agent.id}/pause`, { token: agent.token })
    await service.clock.advance(1_000)
    await service.call(`POST /v1/agents/${agent.id}/resume`, { token: tenant.admin })
    assert.deepEqual(await actions(tenant, `?actor=${agent.id}`), ['pauseAgent'])
    assert.deepEqual(await actions(tenant, '?action=resumeAgent'), ['resumeAgent'])
    assert.deepEqual(await actions(tenant, `?since=${noon}`), ['resumeAgent', 'pauseAgent'])
    assert.deepEqual(await actions(tenant, `?until=${noon}&limit=1`), ['pauseAgent'])
    assert.deepEqual(await actions(tenant, '?offset=1&limit=2'), ['pauseAgent', 'mintKey'])
    assertError(await service.call('GET /v1/audit?since=x', { token: tenant.admin }), 'validation_failed')
  })

  test('[CON-17] the operator’s changes to a tenant are in its log, without secrets', async () => {
    const call = (request: string, body?: unknown) => service.call(request, { token: OPERATOR_TOKEN, body })
    const slug = `audited-${engine.name}`
    const made = await call('POST /operator/tenants', { slug })
    await call(`PATCH /operator/tenants/${slug}/settings`, { max_attempts: 7 })
    const hook = await call('POST /operator/webhooks', {
      tenant: slug,
      source: 'shop',
      signing_secret: 'whsec_0123456789abcdef',
    })
    await call(`POST /operator/webhooks/${hook.body.webhook.id}/rotate`, {})
    await call(`DELETE /operator/webhooks/${hook.body.webhook.id}`)
    const link = await call('POST /operator/connectors', {
      tenant: slug,
      source: 'queue',
      url: 'amqp://user:hunter2@127.0.0.1:1',
      address: 'a',
    })
    await call(`DELETE /operator/connectors/${link.body.connector.id}`)
    const token = (await service.call('POST /v1/auth/token', { body: { api_key: made.body.admin_key } })).body
      .access_token
    const { body } = await service.call<{ entries: Entry[] }>('GET /v1/audit', { token })
    assert.deepEqual(
      body.entries.map(({ action, actor }) => `${actor} ${action}`),
      [
        'deleteConnector',
        'createConnector',
        'deleteWebhook',
        'rotateWebhook',
        'createWebhook',
        'updateTenantSettings',
        'createTenant',
      ].map((action) => `operator ${action}`),
    )
    assert.deepEqual(body.entries[5]!.details, { slug, max_attempts: 7 })
    assert.doesNotMatch(JSON.stringify(body), /whsec_|hunter2|ak_live_/)
  })

  test('[CON-18] a refused request and a dry run leave no entry, a repeated request no second one', async () => {
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    const { total: before } = await audit(tenant)
    await interest(service, agent)
    assert.equal((await interest(service, agent)).status, 422)
    assert.equal((await service.call('POST /v1/agents/agt_nobody/pause', { token: tenant.admin })).status, 404)
    const headers = { 'idempotency-key': 'once' }
    for (let i = 0; i < 2; i++)
      await service.call(`POST /v1/agents/${agent.id}/deactivate`, { token: tenant.admin, headers })
    const dry = { filter: {}, dry_run: true }
    await service.call('POST /v1/delivery/dlq/discard', { token: tenant.admin, body: dry })
    assert.deepEqual(await actions(tenant, '?limit=2'), ['deactivateAgent', 'createInterest'])
    assert.equal((await audit(tenant)).total, before + 2)
  })

  /** Makes one dead letter of the agent, and returns its id. */
  async function deadLetter(agent: TestAgent, type: string): Promise<string> {
    await interest(service, agent, { event_type: type })
    await publish(service, agent.token, { type })
    const delivery_ids = ids(await poll(service, agent.token))
    await service.call('POST /v1/delivery/nack', { token: agent.token, body: { delivery_ids, dead_letter: true } })
    return delivery_ids[0]!
  }

  test('[CON-18] a change whose transaction the store begins again leaves one entry', async (t) => {
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    const id = await deadLetter(agent, 'a.b')
    const { store } = service
    const { tx } = store
    const undone = new Error('a deadlock')
    t.after(() => (store.tx = tx))
    store.tx = async (work, options) => {
      await tx((db) => work(db).then(() => Promise.reject(undone)), options).catch((error) =>
        assert.equal(error, undone),
      )
      return tx(work, options)
    }
    const replayed = await service.call(`POST /v1/delivery/dlq/${id}/replay`, { token: agent.token })
    store.tx = tx
    assert.equal(replayed.status, 200, replayed.text)
    assert.deepEqual(await actions(tenant, '?action=replayDeadLetter'), ['replayDeadLetter'])
  })

  for (const what of ['replay', 'discard'])
    test(`[CON-18] a ${what} that finds no dead letter leaves no entry`, async () => {
      const tenant = await service.tenant()
      const agent = await tenant.agent()
      const { total: before } = await audit(tenant)
      const settle = (body: object) => service.call(`POST /v1/delivery/dlq/${what}`, { token: agent.token, body })
      assert.equal((await settle({ filter: { reason: 'x' } })).body.matched, 0)
      assert.equal((await settle({ delivery_ids: ['dlv_nothing'] })).body.matched, 0)
      assert.equal((await audit(tenant)).total, before)
      const id = await deadLetter(agent, 'a.b')
      assert.equal((await settle({ delivery_ids: [id] })).body.matched, 1)
      assert.equal((await audit(tenant)).total, before + 2)
    })

  test('[CON-36] an entry has the declared fields of a request, the beginning of long ones, and is short', async () => {
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    const discard = async (body: object): Promise<Entry> => {
      assert.equal(
        (await service.call('POST /v1/delivery/dlq/discard', { token: agent.token, body })).body.discarded,
        1,
      )
      return (await audit(tenant, '?action=discardDeadLetters&limit=1')).entries[0]!
    }
    const junk = Array.from({ length: 20_000 }, () => ({}))
    await deadLetter(agent, 'a.b')
    const actor_key_id = agent.keyId
    const byFilter = await discard({ filter: { event_type: 'a.*', junk, sub: { junk } }, limit: 5, junk })
    assert.deepEqual(byFilter.details, { filter: { event_type: 'a.*' }, limit: 5, actor_key_id })

    const others = Array.from({ length: 999 }, (_, i) => `dlv_${i}`)
    const id = await deadLetter(agent, 'a.c')
    const byId = await discard({ delivery_ids: [id, ...others] })
    assert.deepEqual(byId.details, {
      delivery_ids: [id, ...others.slice(0, 19)],
      delivery_ids_count: 1_000,
      actor_key_id,
    })

    const long = Array.from({ length: 99 }, () => '\u0001'.repeat(255))
    const last = await discard({ delivery_ids: [await deadLetter(agent, 'a.d'), ...long] })
    assert.deepEqual(last.details, { delivery_ids_count: 100, actor_key_id, left_out: ['delivery_ids'] })
  })

  test('[CON-19] publishing leaves no entry, another tenant sees none, and old ones go', async () => {
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    await publish(service, agent.token)
    assert.equal((await audit(tenant)).total, 2)
    assert.equal((await audit(await service.tenant())).total, 0)
    await service.clock.jump(364 * 86_400_000)
    await service.app.runOnce.pruneAudit()
    const count = async () =>
      (
        await service.store.rows<{ n: number }>('select count(*) as n from audit_entries where tenant_id = ?', [
          tenant.id,
        ])
      )[0]!.n
    assert.equal(await count(), 2)
    await service.clock.jump(2 * 86_400_000)
    await service.app.runOnce.pruneAudit()
    assert.equal(await count(), 0)
  })

  test('[CON-35] the operator reads the log of a tenant, and of no other', async () => {
    const tenant = await service.tenant()
    const other = await service.tenant()
    await tenant.agent({ name: 'Watcher' })
    await other.agent({ name: 'Elsewhere' })
    const path = `GET /operator/tenants/${tenant.slug}/audit`
    const { body } = await service.call(path, { token: OPERATOR_TOKEN })
    assert.deepEqual(body, await audit(tenant))
    const registered = await service.call(`${path}?action=registerAgent`, { token: OPERATOR_TOKEN })
    assert.equal(registered.body.total, 1)
    assertError(await service.call('GET /operator/tenants/nobody/audit', { token: OPERATOR_TOKEN }), 'not_found')
    assertError(await service.call(path, { token: tenant.admin }), 'authentication_failed')
  })

  test('[CON-18] a request that changes nothing of an agent leaves no entry', async () => {
    const tenant = await service.tenant()
    const agent = await tenant.agent({ name: 'Same' })
    const { total } = await audit(tenant)
    const call = (request: string, body?: object) =>
      service.call(request, { token: tenant.admin, ...(body ? { body } : {}) })
    const one = `/v1/agents/${agent.id}`
    assert.equal((await call(`PATCH ${one}`, { name: 'Same' })).status, 200)
    for (const verb of ['activate', 'resume']) assert.equal((await call(`POST ${one}/${verb}`)).status, 200)
    assert.equal((await audit(tenant)).total, total)
    await call(`PATCH ${one}`, { name: 'Other' })
    await call(`POST ${one}/pause`)
    assert.equal((await audit(tenant)).total, total + 2)
  })
})
