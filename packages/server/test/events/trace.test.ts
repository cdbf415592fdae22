import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { lockRoutingExclusive } from '../../src/routing/changes.ts'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { overOrWaiting } from '../support/over-or-waiting.ts'
import { serviceForSuite, tenantForSuite, type Reply, type TestAgent } from '../support/service.ts'
import { ack, event, eventIds, ids, interest, poll, publish } from './tools.ts'

onBothEngines((engine) => {
  describe('tracing events', () => {
    const service = serviceForSuite(engine, { MAX_ATTEMPTS: '1' })
    const tenant = tenantForSuite(service)
    let sender: TestAgent
    let receiver: TestAgent
    let interestId: string
    before(async () => {
      sender = await tenant.agent({ scopes: ['send', 'interests:read', 'channel:read'] })
      receiver = await tenant.agent()
      interestId = (
        await interest(service, receiver, { event_type: 'trace.*', filter_expression: 'data.n > 0', priority: 2 })
      ).body.id
    })

    const receipt = (id: string, token = sender.token) =>
      service.call(`GET /v1/events/${encodeURIComponent(id)}`, { token })
    const state = async (id: string) => (await receipt(id)).body.deliveries[0].state

    test('[REC-3] a receipt follows the delivery from pending to its end', async () => {
      const id = 'odd id/with?ünicode'
      await publish(service, sender.token, { id, type: 'trace.x', data: { n: 1 } })
      const first = await receipt(id)
      assert.equal(first.status, 200)
      assert.equal(first.body.event.id, id)
      assert.deepEqual(first.body.deliveries[0].matched, [{ kind: 'interest', id: interestId }])
      assert.deepEqual(
        [first.body.deliveries[0].agent_id, first.body.deliveries[0].attempts, first.body.deliveries[0].state],
        [receiver.id, 0, 'pending'],
      )
      const [handed] = await poll(service, receiver.token)
      assert.equal(await state(id), 'leased')
      await ack(service, receiver.token, [handed!.id])
      assert.equal(await state(id), 'acknowledged')
      const dying = (await publish(service, sender.token, { type: 'trace.x', data: { n: 1 } })).body.event_id
      await poll(service, receiver.token)
      await service.clock.advance(30_000)
      const dead = (await receipt(dying)).body.deliveries[0]
      assert.equal(dead.state, 'dead_lettered')
      assert.match(dead.dlq_reason, /1 attempt/)
    })

    test('[REC-4] a receipt is shown to the publisher and to admins, and is not found for others', async () => {
      const id = (await publish(service, sender.token, { type: 'trace.x', data: { n: 1 } })).body.event_id
      const other = await tenant.agent({ scopes: ['send'] })
      const admin = await tenant.agent({ scopes: ['admin'] })
      const none = await tenant.agent({ scopes: ['receive'] })
      const stranger = await service.tenant()
      assertError(await receipt(id, other.token), 'not_found', { resource_type: 'event', resource_id: id })
      assertError(await receipt(id, stranger.admin), 'not_found', { resource_type: 'event', resource_id: id })
      assertError(await receipt(id, none.token), 'insufficient_scope', { required_scope: 'send' })
      assert.equal((await receipt(id, admin.token)).status, 200)
      assert.equal((await receipt(id, tenant.admin)).status, 200)
    })

    test('[REC-3] a receipt names no channel that its reader does not see', async () => {
      const made = await service.call('POST /v1/channels', {
        token: receiver.token,
        body: { name: 'Hidden', type: 'private' },
      })
      const feed = await service.call(`POST /v1/channels/${made.body.id}/feeds`, {
        token: receiver.token,
        body: { event_type_glob: 'hidden.*' },
      })
      const id = (await publish(service, sender.token, { type: 'hidden.x' })).body.event_id
      const matched = async (token: string) => (await receipt(id, token)).body.deliveries[0].matched
      assert.deepEqual(await matched(sender.token), [{ kind: 'feed', id: null }])
      const shown = { kind: 'feed', id: feed.body.id, channel_id: made.body.id }
      for (const token of [receiver.token, tenant.admin]) assert.deepEqual(await matched(token), [shown])
    })

    test('[REC-5] [REC-6] [REC-7] explain says who would receive an event and why, and stores nothing', async () => {
      const explain = async (body: unknown) => service.call('POST /v1/events/explain', { token: sender.token, body })
      const sample = event({ type: 'trace.y', data: { n: 3 } })
      const all = await explain({ event: sample })
      assert.deepEqual(all.body, {
        recipients: [{ agent_id: receiver.id, via: [{ kind: 'interest', id: interestId }], priority: 2 }],
      })
      const yes = (await explain({ event: sample, agent_id: receiver.id })).body.agent
      assert.deepEqual([yes.receives, yes.reasons[0].matches], [true, true])
      const no = (await explain({ event: { ...sample, data: {} }, agent_id: receiver.id })).body.agent
      assert.equal(no.receives, false)
      assert.match(no.reasons[0].explanation, /no such field/)
      const glob = (await explain({ event: { ...sample, type: 'else' }, agent_id: receiver.id })).body.agent
      assert.match(glob.reasons[0].explanation, /does not match trace\.\*/)
      const outsider = (await explain({ event: sample, agent_id: sender.id })).body.agent
      assert.equal(outsider.receives, false)
      assertError(await explain({ event: sample, agent_id: 'agt_x' }), 'not_found', { resource_type: 'agent' })
      assertError(await explain({ event: { type: 'x' } }), 'invalid_event', { field: 'specversion' })
      assertError(await explain({}), 'validation_failed', { field: 'event' })
      assert.equal((await service.call('POST /v1/events', { token: sender.token, body: sample })).status, 202)
    })

    test('[REC-7] explain accepts the envelopes that a publish accepts, and no others', async () => {
      const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)
      for (const [member, status] of [
        ['"subject":"half \\ud800"', 400],
        ['"data":"\\ud83d\\ude00"', 'taken'],
        // The event is a level itself.
        [`"data":${nested(63)}`, 'taken'],
        [`"data":${nested(64)}`, 400],
        ['"data":12345678901234567890', 'taken'],
      ] as const) {
        const envelope = `{"specversion":"1.0","type":"trace.z","source":"/s","id":"${randomUUID()}",${member}}`
        const send = (path: string, raw: string) =>
          service.call(path, { token: sender.token, raw, headers: { 'content-type': 'application/json' } })
        const published = await send('POST /v1/events', envelope)
        const explained = await send('POST /v1/events/explain', `{"event":${envelope}}`)
        const expected = status === 'taken' ? [202, 200] : [status, status]
        assert.deepEqual([published.status, explained.status], expected, `${member} ${explained.text}`)
      }
    })

    test('[REC-6] an inactive agent and a missing membership are named', async () => {
      const idle = await tenant.agent()
      await interest(service, idle, { event_type: 'idle.*' })
      const channel = (
        await service.call('POST /v1/channels', { token: tenant.admin, body: { name: 'open', type: 'open' } })
      ).body.id
      await service.call(`POST /v1/channels/${channel}/feeds`, {
        token: tenant.admin,
        body: { event_type_glob: 'idle.*' },
      })
      const reasons = async (): Promise<string> =>
        JSON.stringify(
          (
            await service.call('POST /v1/events/explain', {
              token: sender.token,
              body: { event: event({ type: 'idle.x' }), agent_id: idle.id },
            })
          ).body.agent,
        )
      assert.match(await reasons(), /not a member/)
      await service.call(`POST /v1/agents/${idle.id}/deactivate`, { token: tenant.admin })
      assert.match(await reasons(), /"receives":false.*inactive/)
    })

    test('[LOOP-1] 32 ancestors pass, a 33rd is refused, in a batch too', async () => {
      let last = (await publish(service, sender.token, { id: 'loop-0' })).body.event_id
      for (let i = 1; i <= 32; i++) {
        const reply = await publish(service, sender.token, { id: `loop-${i}`, causationid: last })
        assert.equal(reply.status, 202, `${i}`)
        last = reply.body.event_id
      }
      const over = await publish(service, sender.token, { id: 'loop-33', causationid: last })
      assert.equal(assertError(over, 'business_rule_violation')['rule'], 'causation_too_deep')
      assert.equal((await publish(service, sender.token, { id: 'loop-33', causationid: 'of nobody' })).status, 202)
      const chain = Array.from({ length: 34 }, (_, i) =>
        event({ id: `chain-${i}`, ...(i > 0 ? { causationid: `chain-${i - 1}` } : {}) }),
      )
      const batch = await service.call('POST /v1/events', {
        token: sender.token,
        raw: JSON.stringify(chain),
        headers: { 'content-type': 'application/cloudevents-batch+json' },
      })
      const refused = batch.body.results.map((r: { error?: unknown }) => r.error !== undefined)
      assert.deepEqual(refused, [...Array(33).fill(false), true])
      // Published in reverse order no event has ancestors yet; the next one at the end of the chain has all of them.
      for (let i = 40; i >= 1; i--)
        assert.equal(
          (await publish(service, sender.token, { id: `back-${i}`, causationid: `back-${i - 1}` })).status,
          202,
        )
      assertError(
        await publish(service, sender.token, { id: 'back-41', causationid: 'back-40' }),
        'business_rule_violation',
      )
      // A cycle has no end, so an event that names it as its cause is refused.
      assert.equal((await publish(service, sender.token, { id: 'self-cause', causationid: 'self-cause' })).status, 202)
      assertError(
        await publish(service, sender.token, { id: 'after-self', causationid: 'self-cause' }),
        'business_rule_violation',
      )
    })

    test('[PUB-2] [LOOP-1] a retry of an accepted event is a duplicate, however long its chain has become', async () => {
      const send = async (id: string, causationid: string): Promise<unknown[]> => {
        const { status, body } = await publish(service, sender.token, { id, causationid })
        return [status, body.status]
      }
      assert.deepEqual(await send('retry-self', 'retry-self'), [202, 'accepted'])
      assert.deepEqual(await send('retry-self', 'retry-self'), [200, 'duplicate'])
      assert.deepEqual(await send('retry-a', 'retry-b'), [202, 'accepted'])
      assert.deepEqual(await send('retry-b', 'retry-a'), [202, 'accepted'])
      assert.deepEqual(await send('retry-a', 'retry-b'), [200, 'duplicate'])
      const both = Array.from({ length: 2 }, () => event({ id: 'retry-twice', causationid: 'retry-twice' }))
      const deep = Array.from({ length: 2 }, () => event({ id: 'retry-deep', causationid: 'retry-a' }))
      const batch = await service.call('POST /v1/events', {
        token: sender.token,
        raw: JSON.stringify([...both, ...deep, event({ id: 'retry-self', causationid: 'retry-a' })]),
        headers: { 'content-type': 'application/cloudevents-batch+json' },
      })
      assert.deepEqual(
        batch.body.results.map(
          (r: { status?: string; error?: { details: { rule: string } } }) => r.status ?? r.error!.details.rule,
        ),
        ['accepted', 'duplicate', 'causation_too_deep', 'causation_too_deep', 'duplicate'],
      )
      const stored = await service.call('GET /v1/events/retry-self', { token: sender.token })
      assert.equal(stored.body.event.causationid, 'retry-self')
    })

    test('[TST-1] [TST-2] [TST-4] a test event reaches the agent through the ordinary pipeline', async () => {
      const agent = await tenant.agent()
      const watcher = await tenant.agent()
      await interest(service, watcher, { event_type: 'test.*' })
      const before = (
        await service.call(`GET /operator/usage?tenant=${tenant.slug}`, { token: 'operator-token-for-tests' })
      ).body.days[0].events
      const reply = await service.call(`POST /v1/agents/${agent.id}/test-event`, { token: agent.token })
      assert.equal(reply.status, 202)
      assert.deepEqual(Object.keys(reply.body), ['event_id'])
      const [mine] = await poll(service, agent.token)
      assert.equal(mine!.event_id, reply.body.event_id)
      const { type, source, subject, specversion } = mine!.payload
      assert.deepEqual(
        { type, source, subject, specversion },
        { type: 'test.dashboard', source: 'dashboard.test-event', subject: agent.id, specversion: '1.0' },
      )
      assert.deepEqual(eventIds(await poll(service, watcher.token)), [reply.body.event_id])
      await ack(service, agent.token, ids([mine!]))
      const recent = await service.call(`GET /v1/agents/${agent.id}/events`, { token: agent.token })
      assert.equal(recent.body.events[0].event_id, reply.body.event_id)
      const usage = (
        await service.call(`GET /operator/usage?tenant=${tenant.slug}`, { token: 'operator-token-for-tests' })
      ).body.days[0]
      assert.equal(usage.events, before + 1)
      await interest(service, agent, { event_type: 'test.*' })
      await service.call(`POST /v1/agents/${agent.id}/test-event`, { token: tenant.admin })
      assert.equal((await poll(service, agent.token)).length, 1)
    })

    test('[TST-3] an inactive agent gets no test event', async () => {
      const agent = await tenant.agent()
      await service.call(`POST /v1/agents/${agent.id}/deactivate`, { token: tenant.admin })
      const reply = await service.call(`POST /v1/agents/${agent.id}/test-event`, { token: tenant.admin })
      assert.equal(assertError(reply, 'business_rule_violation')['rule'], 'agent_inactive')
    })

    // With one writer nothing runs concurrently with a publish.
    if (engine.name === 'postgres') {
      test('[RACE-13] a test event that was under way when its agent was deactivated is refused', async () => {
        const { store } = service
        const sleeper = await tenant.agent()
        let sending!: Promise<Reply>
        await store.tx(async (tx) => {
          // The publish has read the agent by then, and waits for this lock.
          await lockRoutingExclusive(tx, tenant.id)
          sending = service.call(`POST /v1/agents/${sleeper.id}/test-event`, { token: tenant.admin })
          await overOrWaiting(store, sending)
          const ended = await service.call(`POST /v1/agents/${sleeper.id}/deactivate`, { token: tenant.admin })
          assert.equal(ended.status, 200)
        })
        assertError(await sending, 'business_rule_violation', { rule: 'agent_inactive' })
        const rows = await store.rows('select id from deliveries where recipient_id = ?', [sleeper.id])
        assert.deepEqual(rows, [])
      })
    }
  })
})
