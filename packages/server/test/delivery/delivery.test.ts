import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { asleep, sleptOut } from '../support/asleep.ts'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { serviceForSuite, startService, tenantForSuite, type TestAgent } from '../support/service.ts'
import { ack, eventIds, ids, interest, mailboxCalls, poll, publish } from '../events/tools.ts'

onBothEngines((engine) => {
  describe('the mailbox', () => {
    const service = serviceForSuite(engine, { VISIBILITY_TIMEOUT_S: '30', MAX_ATTEMPTS: '3' })
    const tenant = tenantForSuite(service)
    let agent: TestAgent
    beforeEach(async () => {
      agent = await tenant.agent()
      await interest(service, agent, { event_type: `*.${agent.id}` })
    })

    const { send, post, dead, first } = mailboxCalls(() => ({ service, agent }))

    test('[DLV-1] limit is 10 by default, clamped at 100, refused below 1', async () => {
      for (let i = 0; i < 12; i++) await send()
      assert.equal((await poll(service, agent.token, '')).length, 10)
      assert.equal((await poll(service, agent.token, 'limit=5000')).length, 2)
      for (const limit of ['0', '-1', 'x', '1.5', '']) {
        assertError(
          await service.call(`GET /v1/delivery/poll?limit=${limit}`, { token: agent.token }),
          'validation_failed',
          { field: 'limit' },
        )
      }
    })

    test('[DLV-3] the highest priority comes first, then the oldest', async () => {
      await interest(service, agent, { event_type: `high.${agent.id}`, priority: 9 })
      const low = [await send(), await send()]
      const high = [await send({ type: `high.${agent.id}` }), await send({ type: `high.${agent.id}` })]
      // The order is decided before the limit is applied.
      assert.deepEqual(eventIds(await poll(service, agent.token, 'limit=1')), high.slice(0, 1))
      assert.deepEqual(eventIds(await poll(service, agent.token)), [...high.slice(1), ...low])
    })

    test('[DLV-4] parallel polls never share a delivery inside its lease', async () => {
      for (let i = 0; i < 30; i++) await send()
      const polls = await Promise.all(Array.from({ length: 10 }, () => poll(service, agent.token, 'limit=7')))
      const all = polls.flat().map((delivery) => delivery.id)
      assert.equal(all.length, 30)
      assert.equal(new Set(all).size, 30)
      await service.clock.advance(29_999)
      assert.deepEqual(await poll(service, agent.token), [])
    })

    test('[DLV-5] [DLV-6] an unacknowledged delivery comes again, then dies with a reason', async () => {
      const id = await send()
      for (const attempt of [1, 2, 3]) {
        const delivery = await first()
        assert.deepEqual([delivery.event_id, delivery.attempt_count], [id, attempt])
        await service.clock.advance(30_000)
      }
      assert.deepEqual(await poll(service, agent.token), [])
      const {
        dlq_items: [item],
        total,
      } = await dead()
      assert.equal(total, 1)
      assert.equal(item.attempt_count, 3)
      assert.match(item.dlq_reason, /3 attempts over 90 s/)
    })

    test('[DLV-7] a long poll answers as soon as something is due', async () => {
      const waiting = poll(service, agent.token, 'wait=20')
      const id = await send()
      assert.deepEqual(eventIds(await waiting), [id])
      assert.deepEqual(await sleptOut(service.clock, () => poll(service, agent.token, 'wait=5')), [])
      for (const wait of ['21', '-1', 'x'])
        assertError(
          await service.call(`GET /v1/delivery/poll?wait=${wait}`, { token: agent.token }),
          'validation_failed',
          { field: 'wait' },
        )
    })

    test('[AUTH-10] [DLV-7] a poll that waits ends with its key, and with its agent', async () => {
      const waitWith = (token: string) =>
        asleep(service.clock, () => service.call('GET /v1/delivery/poll?wait=20', { token }))
      const first = await waitWith(agent.token)
      await service.call(`DELETE /v1/agents/${agent.id}/keys/${agent.keyId}`, { token: tenant.admin })
      await publish(service, tenant.admin, { type: `com.test.${agent.id}` })
      assertError(await first.result, 'authentication_failed')
      const other = await tenant.agent()
      const second = await waitWith(other.token)
      await service.call(`POST /v1/agents/${other.id}/deactivate`, { token: tenant.admin })
      await service.clock.advance(1_000)
      assertError(await second.result, 'authentication_failed')
    })

    test('[DLV-7] a long poll wakes when a lease lapses', async () => {
      const id = await send()
      await first()
      await service.clock.advance(15_000)
      assert.deepEqual(eventIds(await sleptOut(service.clock, () => poll(service, agent.token, 'wait=20'))), [id])
    })

    test('[DLV-8] [DLV-9] [DLV-10] an acknowledgement counts once, and only for the caller’s own', async () => {
      const other = await tenant.agent()
      for (let i = 0; i < 3; i++) await send()
      const [a, b] = ids(await poll(service, agent.token, 'limit=2'))
      assert.equal(await ack(service, other.token, [a!, b!]), 0)
      assert.equal(await ack(service, agent.token, [a!, a!, 'dlv_nothing', b!]), 2)
      assert.equal(await ack(service, agent.token, [a!, b!]), 0)
      await service.clock.advance(31_000)
      const left = await poll(service, agent.token)
      assert.equal(left.length, 1)
      assert.ok(![a, b].includes(left[0]!.id))
      for (const delivery_ids of [[], Array(101).fill('dlv_x'), 'x', [1], null, undefined]) {
        assertError(await post('ack', { delivery_ids }), 'validation_failed')
      }
    })

    test('[DLV-9] concurrent acknowledgements of the same ids count each once', async () => {
      for (let i = 0; i < 20; i++) await send()
      const handed = ids(await poll(service, agent.token))
      const counts = await Promise.all(Array.from({ length: 8 }, () => ack(service, agent.token, handed)))
      assert.equal(
        counts.reduce((sum, n) => sum + n, 0),
        20,
      )
    })

    test('[DLV-11] a delivery given back is due at once, or after the given delay, as the next attempt', async () => {
      await send()
      const one = await first()
      assert.deepEqual((await post('nack', { delivery_ids: [one.id] })).body, { nacked: 1 })
      const two = await first()
      assert.equal(two.attempt_count, 2)
      assert.deepEqual(
        (await post('nack', { delivery_ids: [two.id], retry_after_seconds: 60, reason: 'later' })).body,
        { nacked: 1 },
      )
      await service.clock.advance(59_999)
      assert.deepEqual(await poll(service, agent.token), [])
      await service.clock.advance(1)
      assert.equal((await first()).attempt_count, 3)
      assert.deepEqual((await post('nack', { delivery_ids: ['dlv_x'] })).body, { nacked: 0 })
      for (const body of [
        { delivery_ids: [] },
        { delivery_ids: ['x'], retry_after_seconds: -1 },
        { delivery_ids: ['x'], dead_letter: 'yes' },
        {},
      ]) {
        assertError(await post('nack', body), 'validation_failed')
      }
    })

    test('[DLV-11] the shortest delay is a second', async () => {
      await send()
      await post('nack', { delivery_ids: [(await first()).id], retry_after_seconds: 1 })
      await service.clock.advance(999)
      assert.deepEqual(await poll(service, agent.token), [])
      await service.clock.advance(1)
      assert.equal((await first()).attempt_count, 2)
    })

    test('[DLV-12] a nack may dead-letter, and on the last attempt it does', async () => {
      await send()
      const one = await first()
      await post('nack', { delivery_ids: [one.id], dead_letter: true, reason: 'the ledger is closed' })
      assert.equal((await dead()).dlq_items[0].dlq_reason, 'the ledger is closed')
      await send()
      await post('nack', { delivery_ids: [(await first()).id], dead_letter: true, reason: '' })
      assert.equal((await dead()).dlq_items[0].dlq_reason, 'The handler gave it up')
      await send()
      for (let i = 0; i < 3; i++) await post('nack', { delivery_ids: [(await first()).id], reason: `no ${i}` })
      const { dlq_items, total } = await dead()
      assert.equal(total, 3)
      assert.match(dlq_items[0].dlq_reason, /3 attempts.*no 2/)
    })

    test('[DLQ-3] a replayed dead letter starts over: what went wrong before is forgotten', async () => {
      const lapse = async (): Promise<void> => {
        await first()
        await service.clock.advance(30_000)
      }
      await send()
      const { id } = await first()
      await post('nack', { delivery_ids: [id], reason: 'no ink' })
      await first()
      await post('nack', { delivery_ids: [id], retry_after_seconds: 1 })
      await service.clock.advance(1_000)
      await lapse()
      assert.equal(
        (await dead()).dlq_items[0].dlq_reason,
        'Not acknowledged after 3 attempts over 31 s; last error: no ink',
      )
      assert.equal((await post(`dlq/${id}/replay`, undefined)).status, 200)
      for (let i = 0; i < 3; i++) await lapse()
      assert.equal((await dead()).dlq_items[0].dlq_reason, 'Not acknowledged after 3 attempts over 90 s')
    })

    test('[DLV-13] [DLV-6] the last lease can be lengthened too', async () => {
      await send()
      for (let i = 0; i < 2; i++) await post('nack', { delivery_ids: [(await first()).id] })
      const { id } = await first()
      assert.deepEqual((await post('extend', { delivery_ids: [id], seconds: 100 })).body, { extended: 1 })
      await service.clock.advance(99_000)
      assert.equal((await dead()).total, 0)
      assert.equal(await ack(service, agent.token, [id]), 1)
    })

    test('[DLV-13] a lease that still holds can be lengthened', async () => {
      await send()
      const one = await first()
      await service.clock.advance(20_000)
      assert.deepEqual((await post('extend', { delivery_ids: [one.id], seconds: 100 })).body, { extended: 1 })
      await service.clock.advance(99_000)
      assert.deepEqual(await poll(service, agent.token), [])
      await service.clock.advance(1_000)
      assert.deepEqual((await post('extend', { delivery_ids: [one.id], seconds: 100 })).body, { extended: 0 })
      assert.equal((await first()).attempt_count, 2)
      for (const seconds of [0, 3601, 1.5, 'x', undefined])
        assertError(await post('extend', { delivery_ids: ['x'], seconds }), 'validation_failed', { field: 'seconds' })
    })
  })

  test('[DLV-6] with fewer attempts after a restart, receipt, queue, poll and dead letters agree', async (t) => {
    const lenient = await startService(engine, { MAX_ATTEMPTS: '3' })
    const tenant = await lenient.tenant()
    const agent = await tenant.agent()
    await interest(lenient, agent)
    const { event_id: eventId } = (await publish(lenient, agent.token)).body
    assert.equal((await poll(lenient, agent.token))[0]!.attempt_count, 1)
    const strict = await lenient.restart({ MAX_ATTEMPTS: '1' })
    t.after(() => strict.stop())
    await strict.clock.jump(30_000)
    const receipt = (await strict.call(`GET /v1/events/${eventId}`, { token: agent.token })).body.deliveries[0]
    const queue = (await strict.call(`GET /v1/agents/${agent.id}/queue`, { token: agent.token })).body
    assert.deepEqual([receipt.state, queue.pending, queue.dead_lettered], ['pending', 1, 0])
    // Its last lease was not granted as the last one: it gets one more, and that one is.
    assert.equal((await poll(strict, agent.token))[0]!.attempt_count, 2)
    await strict.clock.jump(30_000)
    assert.equal((await strict.call('GET /v1/delivery/dlq', { token: agent.token })).body.total, 1)
  })
})
