// Lists of deliveries with long payloads: payloads are read one at a time, and the response is the same.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { before, test } from 'node:test'
import { claimRows } from '../../src/delivery/claim-sql.ts'
import { listDeadLetters } from '../../src/delivery/list-dead-letters.ts'
import { readEnvelope, readSentEnvelope } from '../../src/delivery/long-payloads.ts'
import { recentEvents } from '../../src/delivery/recent-events.ts'
import { readPayload } from '../../src/delivery/sql.ts'
import { readReceipts } from '../../src/events/receipts.ts'
import { findEvent } from '../../src/events/sql.ts'
import { nextTurn } from '../../src/kernel/step-turns.ts'
import type { Db, Value } from '../../src/store/db.ts'
import { interest, publish } from '../events/tools.ts'
import { countedReads } from '../support/counted-reads.ts'
import { onBothEngines } from '../support/engines.ts'
import { agentForSuite, serviceForSuite, tenantForSuite } from '../support/service.ts'

const LONG = 'x'.repeat(300_000)

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)
  const agent = agentForSuite(tenant)
  before(async () => {
    await interest(service, agent, { enrichment_depth: 'full' })
  })

  const sizes = (items: readonly { payload: { data: string } }[]): number[] =>
    items.map(({ payload }) => payload.data.length)

  test('[SAFE-19] a poll of long and short payloads has all of them, in order, and is written in pieces', async () => {
    for (const data of ['short', LONG, `${LONG}2`, `${LONG}33`, `${LONG}444`, 'end'])
      assert.equal((await publish(service, agent.token, { data, subject: 'thing/1' })).body.recipients, 1)
    const polled = await service.call('GET /v1/delivery/poll?limit=100', { token: agent.token })
    assert.equal(polled.headers.get('content-length'), null, 'over 1 MiB it has no length')
    const { deliveries, count } = polled.body
    assert.equal(count, 6)
    assert.deepEqual(sizes(deliveries), [5, 300_000, 300_001, 300_002, 300_003, 3])
    // A long delivery has its enrichment too, which lists long earlier events without their data.
    const { recent_events: earlier } = deliveries[5].payload.enrichment
    assert.equal(earlier.length, 5)
    assert.deepEqual(
      earlier.map(({ data }: { data?: string }) => data),
      [undefined, undefined, undefined, undefined, 'short'],
    )
    assert.equal(deliveries[2].payload.enrichment.depth, 'full')
    // The second time, the deliveries are already enriched.
    await service.clock.advance(31_000)
    const again = await service.call('GET /v1/delivery/poll?limit=100', { token: agent.token })
    assert.deepEqual(
      again.body.deliveries.map(({ payload }: { payload: unknown }) => payload),
      deliveries.map(({ payload }: { payload: unknown }) => payload),
    )
    const delivery_ids = deliveries.map(({ id }: { id: string }) => id)
    await service.call('POST /v1/delivery/ack', { token: agent.token, body: { delivery_ids } })
    const recent = await service.call(`GET /v1/agents/${agent.id}/events?limit=100`, { token: agent.token })
    assert.deepEqual(
      recent.body.events.map(({ data }: { data: string }) => data.length).toSorted(),
      [3, 300_000, 300_001, 300_002, 300_003, 5],
    )
  })

  test('[SAFE-19] dead letters and recent events are read one by one: those gone by then are left out', async () => {
    const other = await tenant.agent()
    await interest(service, other)
    const ids: string[] = []
    for (const data of [LONG, 'short', LONG]) ids.push((await publish(service, agent.token, { data })).body.event_id)
    const { body } = await service.call('GET /v1/delivery/poll', { token: other.token })
    const delivery_ids = body.deliveries.map(({ id }: { id: string }) => id)
    await service.call('POST /v1/delivery/nack', {
      token: other.token,
      body: { delivery_ids, dead_letter: true, reason: 'no' },
    })
    const list = await service.call('GET /v1/delivery/dlq', { token: other.token })
    assert.deepEqual(sizes(list.body.dlq_items).toSorted(), [300_000, 300_000, 5])
    assert.equal(list.body.total, 3)

    const mailbox = { tenantId: tenant.id, recipientId: other.id }
    const begun = await listDeadLetters(service.store, mailbox, {}, 0, 50, nextTurn)
    assert.ok('pieces' in begun)
    await service.store.tx((tx) =>
      tx.run('update events set envelope = null where tenant_id = ? and id = ?', [tenant.id, ids[0]!]),
    )
    let text = ''
    for await (const piece of begun.pieces) text += piece
    assert.deepEqual(sizes(JSON.parse(text).dlq_items).toSorted(), [300_000, 5])
  })

  test('[SAFE-19] the more a list may have, the shorter are the payloads that are read together', async () => {
    const other = await tenant.agent()
    await interest(service, other, { event_type: 'many.*' })
    const body = Array.from({ length: 60 }, (_, i) => ({
      specversion: '1.0',
      type: 'many.things',
      source: '/s',
      id: `many-${i}`,
      data: '€'.repeat(10_000),
    }))
    const headers = { 'content-type': 'application/cloudevents-batch+json' }
    await service.call('POST /v1/events', { token: agent.token, body, headers })
    const mailbox = { tenantId: tenant.id, recipientId: other.id }
    const now = service.clock.now()
    const claimed = async (limit: number) => {
      const rows = await service.store.tx((tx) => claimRows(tx, mailbox, limit, now, now, 5))
      return { count: rows.length, whole: rows.filter(({ envelope }) => envelope !== null).length }
    }
    assert.deepEqual(await claimed(30), { count: 30, whole: 30 }, '0.9 MB')
    await service.clock.advance(31_000)
    // A database server reads four times as much together.
    const { isShared } = service.store
    assert.deepEqual(await claimed(60), { count: 60, whole: isShared ? 60 : 0 }, '1.8 MB')
    await service.clock.advance(31_000)
    const polled = await service.call('GET /v1/delivery/poll?limit=100', { token: other.token })
    assert.equal(polled.body.count, 60)
    assert.ok(sizes(polled.body.deliveries).every((size) => size === 10_000))
    const ids: string[] = polled.body.deliveries.map(({ id }: { id: string }) => id)
    const settle = (how: string, delivery_ids: string[], more = {}) =>
      service.call(`POST /v1/delivery/${how}`, { token: other.token, body: { delivery_ids, ...more } })
    // As many as are read together, in a list that may have more.
    await settle('ack', ids.slice(0, 30))
    await settle('nack', ids.slice(30), { dead_letter: true, reason: 'no' })
    for (const limit of [30, isShared ? 200 : 100]) {
      const recent = countedReads(service.store)
      const items = await recentEvents(recent.db, mailbox, limit)
      const dead = countedReads(service.store)
      const list = await listDeadLetters(dead.db, mailbox, {}, 0, limit, nextTurn)
      const isTogether = limit === 30
      assert.equal(items.filter((item) => typeof item === 'string').length, isTogether ? 30 : 0)
      assert.equal('text' in list, isTogether)
      for (const { most } of [recent, dead]) assert.equal(most.atOnce > 100_000, isTogether, `${most.atOnce} bytes`)
      const shown = await service.call(`GET /v1/agents/${other.id}/events?limit=${limit}`, { token: other.token })
      assert.deepEqual(new Set(shown.body.events.map(({ data }: { data: string }) => data.length)), new Set([10_000]))
      const letters = await service.call(`GET /v1/delivery/dlq?limit=${limit}`, { token: other.token })
      assert.deepEqual([letters.body.total, ...new Set(sizes(letters.body.dlq_items))], [30, 10_000])
    }
  })

  test('[SAFE-19] of recent events 64 KiB are cut in a turn of the event loop, and of a few small ones all', async () => {
    const other = await tenant.agent()
    await interest(service, other, { event_type: 'cut.*' })
    const mailbox = { tenantId: tenant.id, recipientId: other.id }
    /** Publishes and acknowledges, and returns how many turns pass while a list is made of the rows that were read. */
    async function turnsFor(count: number, length: number): Promise<number> {
      for (let i = 0; i < count; i++)
        await publish(service, agent.token, { type: 'cut.thing', data: 'x'.repeat(length) })
      const { body } = await service.call('GET /v1/delivery/poll?limit=20', { token: other.token })
      const delivery_ids = body.deliveries.map(({ id }: { id: string }) => id)
      await service.call('POST /v1/delivery/ack', { token: other.token, body: { delivery_ids } })
      let turns = 0
      let ticking: NodeJS.Immediate | undefined
      const db: Db = {
        ...service.store,
        async rows<R>(sql: string, values?: readonly Value[]) {
          const rows = await service.store.rows<R>(sql, values)
          ticking = setImmediate(function next() {
            turns++
            ticking = setImmediate(next)
          })
          return rows
        },
      }
      assert.equal((await recentEvents(db, mailbox, count)).length, count)
      clearImmediate(ticking)
      return turns
    }
    assert.equal(await turnsFor(5, 1_000), 0)
    assert.equal(await turnsFor(10, 20_000), 2)
  })

  test('[SAFE-19] a long event is read when its response gets to it: as it was sent, or null if it is gone by then', async () => {
    const admin = { token: tenant.admin }
    const long = `é${LONG}"\\`
    for (const [id, data] of Object.entries({ long, longer: 'x'.repeat(1_048_300) })) {
      const { event_id } = (await publish(service, agent.token, { id: `receipts-${id}`, data })).body
      const { headers, body, text } = await service.call(`GET /v1/events/${event_id}`, admin)
      assert.equal(body.event.data, data)
      assert.equal(body.deliveries[0].agent_id, agent.id)
      // Only up to 1 MiB is the length known before it is sent.
      const length = id === 'long' ? String(Buffer.byteLength(text)) : null
      assert.equal(headers.get('content-length'), length)
      const head = await fetch(`${service.url}/v1/events/${event_id}`, {
        method: 'HEAD',
        headers: { authorization: `Bearer ${tenant.admin}` },
      })
      assert.deepEqual([head.status, head.headers.get('content-length')], [200, length])
    }
    const { db, most } = countedReads(service.store)
    const caller = {
      kind: 'org_admin',
      id: 'adm',
      tenantId: tenant.id,
      keyId: 'k',
      scopes: new Set<string>(),
      teamId: null,
    } as const
    const receipts = await readReceipts(db, caller, 'receipts-long', service.clock.now(), async () => true)
    assert.ok('pieces' in receipts)
    assert.ok(most.atOnce < 10_000, `${most.atOnce} bytes`)
    const emptied = "update events set envelope = null, purged_at = 1 where tenant_id = ? and id = 'receipts-long'"
    await service.store.tx((tx) => tx.run(emptied, [tenant.id]))
    let text = ''
    for await (const piece of receipts.pieces) text += piece
    assert.equal(JSON.parse(text).event, null)
  })

  test('[SAFE-19] a stream carries long payloads too', async () => {
    const other = await tenant.agent()
    await interest(service, other)
    await publish(service, agent.token, { data: LONG })
    const gone = new AbortController()
    const stream = await fetch(`${service.url}/v1/delivery/stream`, {
      headers: { authorization: `Bearer ${other.token}` },
      signal: gone.signal,
    })
    let text = ''
    for await (const chunk of stream.body!) {
      text += Buffer.from(chunk).toString()
      if (/data: .*\n\n/.test(text)) break
    }
    gone.abort()
    assert.ok(text.includes(LONG))
  })

  test('[SAFE-42] long payloads are not read by look-up: other look-ups would wait for a megabyte', async () => {
    const sender = await tenant.agent()
    const { event_id } = (await publish(service, sender.token, { data: LONG })).body
    const mailbox = { tenantId: tenant.id, recipientId: agent.id }
    const looked: string[] = []
    const db: Db = {
      ...service.store,
      lookUp: (sql, values) => {
        looked.push(sql)
        return service.store.lookUp(sql, values)
      },
    }
    assert.ok((await readEnvelope(db, tenant.id, event_id))!.includes(LONG))
    const { envelope, bytes } = (await findEvent(db, tenant.id, event_id))!
    assert.deepEqual([envelope, bytes! > LONG.length], [null, true])
    assert.ok(String(Buffer.from((await readSentEnvelope(db, tenant.id, event_id))!)).includes(LONG))
    const { deliveries } = (await service.call('GET /v1/delivery/poll?limit=100', { token: agent.token })).body
    const [{ id }] = deliveries.filter((one: { event_id: string }) => one.event_id === event_id)
    assert.ok((await readPayload(db, mailbox, id))!.envelope!.includes(LONG))
    assert.deepEqual(looked, [])
  })

  test('[SAFE-15] a poll of up to 1 MiB waits for no response that is read slowly; its leases run already', {
    timeout: 60_000,
  }, async (t) => {
    const reader = await tenant.agent()
    await interest(service, reader, { event_type: 'slow.*' })
    for (let i = 0; i < 20; i++)
      await publish(service, agent.token, { type: 'slow.thing', data: 'x'.repeat(1_000_000) })
    const first = await service.call('GET /v1/delivery/poll?limit=100', { token: reader.token })
    const delivery_ids = first.body.deliveries.map(({ id }: { id: string }) => id)
    await service.call('POST /v1/delivery/ack', { token: reader.token, body: { delivery_ids } })
    const { hostname, port } = new URL(service.url)
    // These two have all the places of the agent, since nobody reads them on.
    for (let i = 0; i < 2; i++) {
      const socket = connect(Number(port), hostname)
      t.after(() => socket.destroy())
      socket.write(`GET /v1/agents/${reader.id}/events?limit=100 HTTP/1.1\r\nHost: x\r\n`)
      socket.write(`Authorization: Bearer ${reader.token}\r\n\r\n`)
      await once(socket, 'readable')
    }
    await publish(service, agent.token, { type: 'slow.thing', data: LONG })
    const { body } = await service.call('GET /v1/delivery/poll', { token: reader.token })
    assert.deepEqual(sizes(body.deliveries), [300_000])
  })
})
