// How a push is signed: its secret, the signature of every attempt, and rotation.
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { assertError } from '../support/expect.ts'
import { onBothEngines } from '../support/engines.ts'
import type { Service, TestTenant } from '../support/service.ts'
import { pushSuite, type PushSuite } from './push-suite.ts'
import type { Received, Receiver } from './tools.ts'

onBothEngines((engine) => {
  const suite = pushSuite(engine)
  let service: Service
  let tenant: TestTenant
  let receiver: Receiver
  let calls: PushSuite['calls']
  beforeEach(() => {
    ;({ service, tenant, receiver, calls } = suite)
  })

  const secretOf = async (agent: { id: string }): Promise<string> =>
    (await service.call<{ push_secret: string }>(`POST /v1/agents/${agent.id}/push-secret`, { token: tenant.admin }))
      .body.push_secret

  const verify = (secret: string, { text, headers }: Received): unknown =>
    new Webhook(secret).verify(text, headers as Record<string, string>)

  test('[PUSH-2] [PUSH-3] [PUSH-6] every push is signed as Standard Webhooks, the id the same and the timestamp new on every attempt', async () => {
    const agent = await calls.pushed(tenant, receiver.url)
    receiver.answer = () => 500
    await calls.publish(agent)
    const first = await receiver.next()
    assert.match(first.headers['webhook-signature'] as string, /^v1,[A-Za-z0-9+/]{43}=$/)
    assert.equal(first.headers['webhook-timestamp'], String(Math.floor(service.clock.now() / 1000)))
    await calls.state(agent, 'waiting')
    const secret = await secretOf(agent)
    receiver.answer = () => 200
    await service.clock.advance(6_000)
    const second = await receiver.next()
    assert.equal(second.headers['webhook-id'], second.delivery.id)
    assert.equal(second.headers['webhook-id'], first.headers['webhook-id'])
    assert.equal(second.delivery.attempt_count, 2)
    const [sent, sentAgain] = [first, second].map(({ headers }) => Number(headers['webhook-timestamp'])) as [
      number,
      number,
    ]
    assert.ok(
      sentAgain >= sent && sentAgain <= service.clock.now() / 1000 && sentAgain > service.clock.now() / 1000 - 3,
      `${sent} ${sentAgain}`,
    )
    assert.deepEqual(verify(secret, second), second.delivery)
    assert.throws(() => verify(secret, { ...second, text: second.text.replace('"n":1', '"n":2') }))
  })

  test('[PUSH-4] a push secret is made by an admin or the agent itself, shown once, and sealed at rest', async () => {
    const agent = await tenant.agent({ scopes: ['receive'] })
    const other = await tenant.agent({ scopes: ['receive'] })
    const path = `POST /v1/agents/${agent.id}/push-secret`
    const own = await service.call<{ push_secret: string }>(path, {
      token: agent.token,
      headers: { 'idempotency-key': 'k1' },
    })
    assert.equal(own.status, 201)
    assert.deepEqual(Object.keys(own.body), ['push_secret'])
    assert.match(own.body.push_secret, /^whsec_[A-Za-z0-9+/]+=*$/)
    assert.ok(Buffer.from(own.body.push_secret.slice(6), 'base64').length >= 24)
    const again = await service.call<{ push_secret: string }>(path, {
      token: agent.token,
      headers: { 'idempotency-key': 'k1' },
    })
    assert.deepEqual(again.body, own.body)
    assertError(await service.call(path, { token: other.token }), 'insufficient_scope', { required_scope: 'admin' })
    assertError(
      await service.call('POST /v1/agents/agt_01hv3k8z9q4m7t2x5c6w8r0s1d/push-secret', { token: tenant.admin }),
      'not_found',
      { resource_type: 'agent' },
    )
    const elsewhere = await service.tenant()
    assertError(await service.call(path, { token: elsewhere.admin }), 'not_found', { resource_id: agent.id })
    for (const table of ['push_secrets', 'idempotency']) {
      const rows = await service.store.rows(`select * from ${table} where tenant_id = ?`, [tenant.id])
      assert.ok(rows.length > 0 && !JSON.stringify(rows).includes(own.body.push_secret.slice(6)), table)
    }
  })

  test('[PUSH-5] after a rotation old and new secret sign for 24 hours, then the new one alone', async () => {
    const agent = await calls.pushed(tenant, receiver.url)
    const push = async (): Promise<Received> => {
      await calls.publish({ token: await tenant.token(agent.key) })
      return receiver.next()
    }
    const old = await secretOf(agent)
    verify(old, await push())
    const fresh = await secretOf(agent)
    const both = await push()
    assert.equal((both.headers['webhook-signature'] as string).split(' ').length, 2)
    // The official verifier compares timestamps with the machine's clock, which did not move.
    const now = Date.now
    try {
      Date.now = () => service.clock.now()
      for (const secret of [old, fresh]) verify(secret, both)
      suite.shift += 24 * 3_600_000 - 1_000
      for (const secret of [old, fresh]) verify(secret, await push())
      suite.shift += 2_000
      const after = await push()
      verify(fresh, after)
      assert.throws(() => verify(old, after))
      assert.equal((after.headers['webhook-signature'] as string).split(' ').length, 1)
      // A third secret within the day: all secrets that are still valid sign.
      tenant.admin = await tenant.token(tenant.adminKey)
      const third = await secretOf(agent)
      const fourth = await secretOf(agent)
      const all = await push()
      for (const secret of [fresh, third, fourth]) verify(secret, all)
    } finally {
      Date.now = now
    }
  })
})
