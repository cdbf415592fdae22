// Two nodes on one database that use up a tenant's quotas at the same time.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { POSTGRES_URL, postgres } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import {
  OPERATOR_TOKEN,
  startService,
  type Reply,
  type Service,
  type TestAgent,
  type TestTenant,
} from '../support/service.ts'
import { event, interest } from '../events/tools.ts'

describe('quotas on two nodes', { skip: POSTGRES_URL ? false : 'PostgreSQL is missing' }, () => {
  let one: Service
  let two: Service
  let tenant: TestTenant
  let agent: TestAgent

  before(async () => {
    one = await startService(postgres, { RATE_LIMIT_AGENT: 'off', RATE_LIMIT_TENANT: 'off' })
    two = await one.another()
    tenant = await one.tenant()
    agent = await tenant.agent()
  })
  after(async () => {
    await two.stop()
    await one.stop()
  })

  async function set(quotas: object): Promise<void> {
    const reply = await one.call(`PATCH /operator/tenants/${tenant.slug}/settings`, {
      token: OPERATOR_TOKEN,
      body: quotas,
    })
    assert.equal(reply.status, 200, reply.text)
    // Other nodes read newer settings twice a second.
    await one.clock.advance(1_500)
  }

  /** Sends concurrent requests to both nodes in turn. Returns how many succeeded; all others must meet the quota. */
  async function made(count: number, make: (on: Service, i: number) => Promise<Reply<unknown>>): Promise<number> {
    const replies = await Promise.all(Array.from({ length: count }, (_, i) => make(i % 2 === 0 ? one : two, i)))
    const refused = replies.filter(({ status }) => status >= 300)
    for (const reply of refused) assertError(reply, 'business_rule_violation', { rule: 'quota_exceeded' })
    return count - refused.length
  }

  const agents = (on: Service): Promise<Reply<unknown>> =>
    on.call('POST /v1/agents', {
      token: tenant.admin,
      body: { name: 'More', delivery_mode: 'poll', client_type: 'other' },
    })
  const memories = (on: Service, i: number): Promise<Reply<unknown>> =>
    on.call('POST /v1/memories', {
      token: agent.token,
      body: { type: 'semantic', scope: 'agent', title: `Note ${i}`, content: 'Something to remember' },
    })

  test('[SAFE-37] a small quota of agents, interests or memories holds exactly, on any node', async () => {
    await set({ quota_agents: 6, quota_interests: 7, quota_memories: 8 })
    assert.equal(await made(20, agents), 5, 'with the one that was there')
    assert.equal(await made(20, (on, i) => interest(on, agent, { event_type: `small.${i}` })), 7)
    assert.equal(await made(20, memories), 8)
  })

  test('[SAFE-37] a large quota is exceeded by at most one thirty-second for each other node', async () => {
    await set({ quota_interests: 320 })
    // The first node has a share that it does not use, and the second uses up all the rest.
    assert.equal((await interest(one, agent, { event_type: 'large.first' })).status, 201)
    let i = 0
    while ((await interest(two, agent, { event_type: `large.two.${i++}` })).status === 201);
    const passed = await made(40, (_on, n) => interest(one, agent, { event_type: `large.one.${n}` }))
    assert.ok(passed <= 10, `${passed} more than the quota`)
    await one.clock.advance(1_500)
    assert.equal(await made(10, (on, n) => interest(on, agent, { event_type: `large.late.${n}` })), 0)
  })

  test('[SAFE-37] what a node has left of its share is over after a second', async () => {
    await set({ quota_agents: 70 })
    assert.equal((await agents(one)).status, 201)
    while ((await agents(two)).status === 201);
    await one.clock.advance(1_000)
    assertError(await agents(one), 'business_rule_violation', { rule: 'quota_exceeded' })
  })

  test('[SAFE-37] quotas of events and bytes are exceeded by at most what nodes take within a second', async () => {
    const publish = (on: Service, i: number): Promise<Reply<unknown>> =>
      on.call('POST /v1/events', {
        token: agent.token,
        body: event({ id: `quota-${on === one ? 1 : 2}-${i}-${Math.random()}` }),
      })
    await set({ quota_events_per_day: 10 })
    const taken = await made(60, publish)
    assert.ok(taken >= 10 && taken <= 20, `${taken} of 10`)
    await one.clock.advance(1_500)
    assert.equal(await made(10, publish), 0)
    await set({ quota_events_per_day: null, quota_memories: null, quota_stored_bytes: 1_000_000 })
    const large = (on: Service, i: number): Promise<Reply<unknown>> =>
      on.call('POST /v1/events', { token: agent.token, body: event({ id: `bytes-${i}`, data: 'x'.repeat(100_000) }) })
    const stored = await made(40, large)
    assert.ok(stored >= 8 && stored <= 20, `${stored} events of 100 kB in a quota of 1 MB`)
    await one.clock.advance(1_500)
    assert.equal(await made(4, (on, i) => large(on, 100 + i)), 0)
  })
})
