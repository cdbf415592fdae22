// Which callers get a recorded response replayed, and on which paths.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { ALL_SCOPES, OPERATOR_TOKEN, serviceForSuite, tenantForSuite } from '../support/service.ts'

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)

  const secondKey = async (agentId: string, scopes: string[]): Promise<string> => {
    const made = await service.call(`POST /v1/agents/${agentId}/keys`, { token: tenant.admin, body: { scopes } })
    assert.equal(made.status, 201)
    return tenant.token(made.body.key)
  }

  test('[OPS-16] a minted key is shown again to the key that minted it, and to no other of the same agent', async () => {
    const agent = await tenant.agent()
    const weaker = await secondKey(agent.id, ['admin', 'receive'])
    const equal = await secondKey(agent.id, ALL_SCOPES)
    const unscoped = await secondKey(agent.id, ['memory:read'])
    const mint = (token: string) =>
      service.call(`POST /v1/agents/${agent.id}/keys`, {
        token,
        body: { scopes: ['send', 'memory:write'] },
        headers: { 'idempotency-key': 'mint' },
      })
    const first = await mint(agent.token)
    assert.equal(first.status, 201)
    for (const other of [weaker, equal]) {
      const reply = await mint(other)
      assertError(reply, 'conflict', { idempotency_key: 'mint', existing_resource_id: first.body.id })
      assert.equal(reply.text.includes(first.body.key), false)
    }
    assertError(await mint(unscoped), 'insufficient_scope', { required_scope: 'admin' })
    const again = await mint(agent.token)
    assert.deepEqual([again.body, again.headers.get('idempotent-replayed')], [first.body, 'true'])
  })

  test('[OPS-16] so is a push secret; a response without a secret is replayed to every key in scope', async () => {
    const agent = await tenant.agent()
    const other = await secondKey(agent.id, ['receive'])
    const headers = { 'idempotency-key': 'push' }
    const secret = (token: string) => service.call(`POST /v1/agents/${agent.id}/push-secret`, { token, headers })
    assert.equal((await secret(agent.token)).status, 201)
    assertError(await secret(other), 'conflict', { idempotency_key: 'push', existing_resource_id: null })
    const rename = (token: string) =>
      service.call(`PATCH /v1/agents/${agent.id}`, { token, body: { name: 'Renamed' }, headers })
    const first = await rename(agent.token)
    const replayed = await rename(other)
    assert.deepEqual([replayed.status, replayed.body], [200, first.body])
    assert.equal(replayed.headers.get('idempotent-replayed'), 'true')
  })

  test('[OPS-16] a secret in a record from before key ids were stored is never shown again', async () => {
    const agent = await tenant.agent()
    const mint = () =>
      service.call(`POST /v1/agents/${agent.id}/keys`, {
        token: agent.token,
        body: { scopes: ['send'] },
        headers: { 'idempotency-key': 'from before' },
      })
    const first = await mint()
    await service.store.tx((tx) =>
      tx.run("update idempotency set key_id = null where tenant_id = ? and idempotency_key = 'from before'", [
        tenant.id,
      ]),
    )
    const reply = await mint()
    assertError(reply, 'conflict', { idempotency_key: 'from before', existing_resource_id: first.body.id })
  })

  test('[OPS-17] a path with an id of 9,000 characters is 404 with a key too, and is replayed', async () => {
    for (const id of ['x'.repeat(9_000), 'é'.repeat(1_500)]) {
      const replay = (key: string) =>
        service.call(`POST /v1/delivery/dlq/${encodeURIComponent(id)}/replay`, {
          token: tenant.admin,
          headers: { 'idempotency-key': key },
        })
      const first = await replay('long')
      assertError(first, 'not_found')
      assert.equal(first.headers.get('idempotent-replayed'), null)
      const again = await replay('long')
      assertError(again, 'not_found')
      assert.equal(again.headers.get('idempotent-replayed'), 'true')
    }
  })

  test('[OPS-17] two long paths that differ at their end are two requests', async () => {
    const ask = (end: string) =>
      service.call(`POST /v1/agents/${'y'.repeat(2_000)}${end}/deactivate`, {
        token: tenant.admin,
        headers: { 'idempotency-key': 'ends' },
      })
    assert.equal((await ask('a')).headers.get('idempotent-replayed'), null)
    assert.equal((await ask('b')).headers.get('idempotent-replayed'), null)
    assert.equal((await ask('a')).headers.get('idempotent-replayed'), 'true')
  })

  test("[OPS-16] the operator's secrets are replayed to the operator", async () => {
    const make = () =>
      service.call('POST /operator/tenants', {
        token: OPERATOR_TOKEN,
        body: { slug: `replay-${engine.name}` },
        headers: { 'idempotency-key': 'tenant' },
      })
    assert.deepEqual((await make()).body, (await make()).body)
  })
})
