// The main flows of the product on a store whose tenants are spread over several machines. Their behaviour is tested
// elsewhere; these tests check that they work there and that their statements stay with one tenant, which stopping the
// service asserts.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ack, event, eventIds, ids, interest, poll, publish } from '../events/tools.ts'
import { AGING_CHANGES } from '../../src/routing/sql.ts'
import { purge } from '../../src/store/purge.ts'
import type { Engine } from '../support/engines.ts'
import { startService, type Service, type TestAgent, type TestTenant } from '../support/service.ts'

export function shardedFlows(engine: Engine): void {
  let service: Service
  const tenants: TestTenant[] = []
  const agents: TestAgent[] = []
  before(async () => {
    service = await startService(engine, { RATE_LIMIT_AGENT: '100000', RATE_LIMIT_TENANT: '1000000' })
    for (let i = 0; i < 4; i++) {
      const tenant = await service.tenant()
      tenants.push(tenant)
      agents.push(await tenant.agent())
    }
    for (const agent of agents) assert.equal((await interest(service, agent)).status, 201)
  })
  after(() => service?.stop())

  test('[SCL-3] the service detects that its store is sharded', () => assert.equal(service.store.isSharded, true))

  test('[SCL-4] tenants that publish together keep their own: each event once, acknowledged once', async () => {
    const replies = await Promise.all(
      Array.from({ length: 80 }, (_, i) => publish(service, agents[i % 4]!.token, { id: `together-${i}` })),
    )
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([202]))
    for (const [i, agent] of agents.entries()) {
      const got = await poll(service, agent.token)
      assert.deepEqual(eventIds(got).sort(), Array.from({ length: 20 }, (_, n) => `together-${n * 4 + i}`).sort())
      assert.equal(await ack(service, agent.token, ids(got)), 20)
      assert.equal(await ack(service, agent.token, ids(got)), 0)
    }
  })

  test('[SCL-4] duplicates, causes, batches and keys of retries', async () => {
    const [agent] = agents as [TestAgent]
    assert.equal((await publish(service, agent.token, { id: 'first' })).status, 202)
    assert.equal((await publish(service, agent.token, { id: 'first' })).body.status, 'duplicate')
    const caused = await publish(service, agent.token, { id: 'second', causationid: 'first' })
    assert.equal(caused.status, 202)
    assert.equal((await service.call('GET /v1/events/second', { token: agent.token })).status, 200)
    const batch = await service.call('POST /v1/events', {
      token: agent.token,
      raw: JSON.stringify(Array.from({ length: 70 }, () => event())),
      headers: { 'idempotency-key': 'a-batch', 'content-type': 'application/cloudevents-batch+json' },
    })
    assert.ok(batch.status < 300, batch.text)
    assert.equal((await poll(service, agent.token)).length, 72)
  })

  test('[SCL-4] leases that lapse, dead letters and their replay', async () => {
    const agent = agents[1]!
    await publish(service, agent.token, { id: 'never-handled' })
    for (let attempt = 0; attempt < 5; attempt++) {
      assert.equal((await poll(service, agent.token)).length, 1, `attempt ${attempt}`)
      await service.clock.advance(31_000)
      await service.app.runOnce.sweepLapsed()
    }
    const dead = await service.call('GET /v1/delivery/dlq', { token: agent.token })
    assert.equal(dead.body.total, 1, dead.text)
    const replay = await service.call(`POST /v1/delivery/dlq/${dead.body.dlq_items[0].id}/replay`, {
      token: agent.token,
    })
    assert.ok(replay.status < 300, replay.text)
    assert.equal((await poll(service, agent.token)).length, 1)
  })

  test('[SCL-4] memories are kept, related, found and forgotten', async () => {
    const agent = agents[2]!
    const remember = async (content: string): Promise<string> => {
      const reply = await service.call('POST /v1/memories', {
        token: agent.token,
        body: { type: 'semantic', title: content, content, scope: 'agent' },
      })
      assert.equal(reply.status, 201, reply.text)
      return reply.body.id
    }
    const [one, two] = [await remember('The lighthouse is white'), await remember('The keeper likes tea')]
    await service.app.memory.embedding.idle()
    const related = await service.call(`POST /v1/memories/${one}/relationships`, {
      token: agent.token,
      body: { target_memory_id: two, relationship_type: 'related_to' },
    })
    assert.ok(related.status < 300, related.text)
    const found = await service.call('POST /v1/memories/search', { token: agent.token, body: { query: 'lighthouse' } })
    assert.equal(found.status, 200, found.text)
    assert.equal(found.body.results[0].memory.id, one, found.text)
    assert.equal(
      (await service.call(`GET /v1/memories/${one}/relationships?depth=2`, { token: agent.token })).status,
      200,
    )
    assert.ok((await service.call(`DELETE /v1/memories/${two}`, { token: agent.token })).status < 300)
  })

  test('[SCL-4] channels, keys and agents that change', async () => {
    const [tenant, agent] = [tenants[3]!, agents[3]!]
    const channel = await service.call('POST /v1/channels', {
      token: tenant.admin,
      body: { name: 'ops', type: 'open' },
    })
    assert.equal(channel.status, 201, channel.text)
    const second = await tenant.agent()
    assert.ok((await service.call(`POST /v1/agents/${second.id}/deactivate`, { token: tenant.admin })).status < 300)
    await service.clock.advance(1_000)
    assert.equal((await service.call('GET /v1/delivery/poll', { token: second.token })).status, 401)
    assert.equal((await service.call('GET /v1/delivery/poll', { token: agent.token })).status, 200)
  })

  test('[SCL-4] everything that the service does in the background', async () => {
    for (const [name, runOnce] of Object.entries(service.app.runOnce)) {
      await runOnce().catch((error: unknown) => assert.fail(`${name}: ${String(error)}`))
    }
    const later = service.clock.now() + 1
    assert.ok((await purge(service.store, AGING_CHANGES, later)) >= tenants.length)
    assert.equal(await purge(service.store, AGING_CHANGES, later), 0)
  })
}
