// Connectors against a real RabbitMQ: outcomes of messages, and that none is lost or doubled when a process dies.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import rhea, { type Connection } from 'rhea'
import type { Connector } from '@sensorium/contract'
import { layWireTo } from '../support/cut-wire.ts'
import { onBothEngines, postgres, POSTGRES_URL, type Engine } from '../support/engines.ts'
import { startProcess, type RunningProcess } from '../support/process.ts'
import { noBroker, startRabbit, type RabbitServer } from '../support/rabbitmq.ts'
import { OPERATOR_TOKEN, startService, type Service, type TestTenant } from '../support/service.ts'
import { listener, operatorCalls } from '../ingest/tools.ts'
import { realClock } from '../support/fake-clock.ts'
import { eventually, jsonMessage, orders, sendAll, startLedger, sumOf, usageOf } from './amqp-tools.ts'

const skip = noBroker
let rabbit: RabbitServer
before(async () => {
  if (!skip) rabbit = await startRabbit()
})
after(() => rabbit?.stop())

let queues = 0
const newQueue = (): string => `q-${++queues}`

onBothEngines((engine) => {
  let service: Service
  let tenant: TestTenant
  let calls: ReturnType<typeof operatorCalls>
  before(async () => {
    if (skip) return
    service = await startService(engine, {}, realClock())
    calls = operatorCalls(service)
    tenant = await service.tenant()
  })
  after(() => service?.stop())

  const connect = (queue: string, more: object = {}): Promise<Connector> =>
    calls.connector({ tenant: tenant.slug, source: 'erp', url: rabbit.url, address: `/amq/queue/${queue}`, ...more })
  const shown = async (id: string): Promise<Connector> => {
    await service.app.runOnce.superviseConnectors()
    const list = await calls.operator<{ connectors: Connector[] }>('GET /operator/connectors?limit=200')
    return list.body.connectors.find((connector) => connector.id === id)!
  }
  const inState = (id: string, state: string) =>
    eventually(`${id} is ${state}`, async () => (await shown(id)).state === state && shown(id))
  const counted = (id: string, sum: string) =>
    eventually(`${id} counts ${sum}`, async () => sumOf(await shown(id)) === sum && shown(id))

  test('[AMQP-2] [AMQP-3] [AMQP-4] [AMQP-5] [AMQP-8] [RCP-9] JSON is mapped, CloudEvents pass, the rest is rejected; the same again is a duplicate', {
    skip,
  }, async () => {
    const agent = await listener(service, tenant)
    const queue = newQueue()
    const bystander = await tenant.agent()
    const cloudEvent = {
      specversion: '1.0',
      type: 'com.example.structured',
      id: 'S-1',
      source: '/s',
      recipient: bystander.id,
      data: { n: 1 },
    }
    const messages = [
      jsonMessage({ entity: 'order', action: 'created', id: 'o-1' }),
      jsonMessage({ entity: 'order', action: 'counted' }, { message_id: 'm-1' }),
      { body: rhea.message.data_section(Buffer.from('not json')) },
      jsonMessage(cloudEvent, { content_type: 'application/cloudevents+json' }),
      ...['cloudEvents:', 'cloudEvents_'].map((prefix, i) =>
        jsonMessage(
          { n: i },
          {
            application_properties: {
              [`${prefix}specversion`]: '1.0',
              [`${prefix}type`]: 'com.example.binary',
              [`${prefix}id`]: `B-${i}`,
              [`${prefix}source`]: '/b',
            },
          },
        ),
      ),
    ]
    await sendAll(rabbit, queue, messages)
    const { id } = await connect(queue)
    const after = await counted(id, '6/5/0/0/1')
    assert.equal(after.state, 'running')
    assert.match(after.last_error!, /not JSON/)
    assert.ok(after.last_message_at)
    await sendAll(rabbit, queue, messages)
    await counted(id, '12/10/5/0/2')
    const payloads = (await agent.poll()).map(({ payload }) => payload as Record<string, unknown>)
    assert.deepEqual(payloads.map(({ id: eventId, type }) => `${eventId} ${type}`).sort(), [
      'B-0 com.example.binary',
      'B-1 com.example.binary',
      'S-1 com.example.structured',
      'erp:m-1 com.erp.order.counted',
      'erp:o-1 com.erp.order.created',
    ])
    assert.deepEqual(payloads.find((payload) => payload['id'] === 'erp:o-1')!['original'], {
      entity: 'order',
      action: 'created',
      id: 'o-1',
    })
    assert.deepEqual(
      payloads.find((payload) => payload['id'] === 'S-1'),
      cloudEvent,
    )
    const addressed = await service.call('GET /v1/delivery/poll', { token: bystander.token })
    assert.equal(addressed.body.count, 0)
    assert.deepEqual(payloads.find((payload) => payload['id'] === 'B-1')!['data'], { n: 1 })
    const [row] = await service.store.rows<{ sender_id: string }>(
      "select sender_id from events where tenant_id = ? and id = 'erp:o-1'",
      [tenant.id],
    )
    assert.equal(row!.sender_id, id)
    assert.match(
      (await service.call('GET /metrics')).text,
      /sensorium_connector_messages_total\{outcome="rejected"\} 2/,
    )
    await calls.operator(`DELETE /operator/connectors/${id}`)
  })

  test('[OPS-8] pausing stops a connector, resuming goes on without loss, deleting ends it', { skip }, async () => {
    const queue = newQueue()
    await sendAll(rabbit, queue, orders(1000, 1))
    const { id } = await connect(queue)
    await counted(id, '1/1/0/0/0')
    await calls.operator(`POST /operator/connectors/${id}/pause`)
    await service.app.runOnce.superviseConnectors()
    await sendAll(rabbit, queue, orders(1001, 5))
    // While it is paused another consumer gets the messages, and gives them back.
    assert.equal(await peek(queue, 5), 5)
    assert.equal(sumOf(await shown(id)), '1/1/0/0/0')
    await calls.operator(`POST /operator/connectors/${id}/resume`)
    await counted(id, '6/6/0/0/0')
    await calls.operator(`DELETE /operator/connectors/${id}`)
    await service.app.runOnce.superviseConnectors()
    await sendAll(rabbit, queue, orders(1006, 1))
    assert.equal(await peek(queue, 1), 1)
  })

  test('[AMQP-6] a connector reconnects to a broker that died, and the kept messages arrive', { skip }, async () => {
    const queue = newQueue()
    await sendAll(rabbit, queue, orders(2000, 1))
    const { id } = await connect(queue)
    await inState(id, 'running')
    await rabbit.kill()
    const lost = await inState(id, 'reconnecting')
    assert.ok(lost.last_error)
    await rabbit.start()
    await sendAll(rabbit, queue, orders(2001, 3))
    await eventually('all four are stored', async () => (await stored(service, tenant, 'erp:o-200%')) === 4 && true)
    assert.equal((await shown(id)).last_error, null)
    await calls.operator(`DELETE /operator/connectors/${id}`)
  })

  test('[AMQP-6] [OPS-7] TLS verifies the broker; wrong certificates and credentials are reported, not passwords', {
    skip,
  }, async () => {
    const queue = newQueue()
    await sendAll(rabbit, queue, orders(3000, 1))
    const trusted = await connect(queue, { url: rabbit.tlsUrl, tls_ca: rabbit.ca })
    await counted(trusted.id, '1/1/0/0/0')
    const refused: [object, RegExp][] = [
      [{ url: rabbit.tlsUrl }, /certificate/i],
      [{ url: rabbit.tlsUrl.replace('127.0.0.1', '127.0.0.2'), tls_ca: rabbit.ca }, /127\.0\.0\.2|ECONNREFUSED/],
      [{ url: rabbit.url.replace(/:[^:@]*@/, ':wrong-password@') }, /unauthorized-access/],
      [{ address: '/amq/queue/nowhere' }, /not-found/],
    ]
    for (const [more, text] of refused) {
      const { id } = await connect(queue, more)
      const failed = await eventually(
        `${text} is said`,
        async () => ['failed', 'reconnecting'].includes((await shown(id)).state) && shown(id),
      )
      assert.match(failed.last_error!, text)
      assert.ok(!JSON.stringify(failed).includes('password'))
      await calls.operator(`DELETE /operator/connectors/${id}`)
    }
    await calls.operator(`DELETE /operator/connectors/${trusted.id}`)
  })
})

/** Counts the messages that a queue has ready, up to a limit. They are given back. */
function peek(queue: string, most: number): Promise<number> {
  return new Promise((resolve) => {
    const { hostname, port, username, password } = new URL(rabbit.url)
    const container = rhea.create_container()
    let got = 0
    const connection: Connection = container.connect({
      host: hostname,
      port: Number(port),
      username,
      password: decodeURIComponent(password),
      reconnect: false,
    })
    container.on('message', () => void (++got === most && connection.close()))
    container.on('connection_close', () => resolve(got))
    container.on('disconnected', () => resolve(got))
    connection.open_receiver({ source: { address: `/amq/queue/${queue}` }, credit_window: most, autoaccept: false })
  })
}

const stored = async ({ store }: Pick<Service, 'store'>, tenant: TestTenant, like: string): Promise<number> =>
  (
    await store.rows<{ n: number }>('select count(*) as n from events where tenant_id = ? and id like ?', [
      tenant.id,
      like,
    ])
  )[0]!.n

test('[AMQP-2] while the store is away messages are released, and are stored when it is back', {
  skip: skip || (POSTGRES_URL ? false : 'PostgreSQL is missing'),
}, async (t) => {
  const fresh = await postgres.fresh()
  const { wire, url } = await layWireTo(fresh.env['DATABASE_URL']!)
  const engine: Engine = {
    name: 'postgres',
    fresh: async () => ({ ...fresh, env: { ...fresh.env, DATABASE_URL: url } }),
  }
  const service = await startService(engine, {}, realClock())
  t.after(async () => {
    await service.stop()
    await wire.cut()
  })
  const tenant = await service.tenant()
  const queue = newQueue()
  await sendAll(rabbit, queue, orders(0, 1))
  await operatorCalls(service).connector({
    tenant: tenant.slug,
    source: 'erp',
    url: rabbit.url,
    address: `/amq/queue/${queue}`,
  })
  await eventually('the first is stored', async () => (await stored(service, tenant, 'erp:%')) === 1 && true)
  await wire.cut()
  await sendAll(rabbit, queue, orders(1, 50))
  const metric = async (): Promise<number> =>
    Number(/outcome="released"\} (\d+)/.exec((await service.call('GET /metrics')).text)![1])
  await eventually('messages are released', async () => (await metric()) >= 50 && true)
  await wire.mend()
  await eventually('all are stored', async () => (await stored(service, tenant, 'erp:%').catch(() => 0)) === 51 && true)
})

const COUNT = 5_000
onBothEngines((engine) => {
  test(`[AMQP-2] [AMQP-6] killing the service and the broker in the middle of ${COUNT} messages loses none and doubles none`, {
    skip,
  }, async (t) => {
    const { env, drop } = await engine.fresh()
    t.after(drop)
    const ledger = await startLedger(env)
    t.after(() => ledger.stop())
    const { call, token } = ledger
    const queue = newQueue()
    await sendAll(rabbit, queue, orders(0, COUNT))
    const { connector } = operatorCalls({ call } as Pick<Service, 'call'>)
    await connector({ tenant: 'default', source: 'erp', url: rabbit.url, address: `/amq/queue/${queue}` })
    const usage = () => usageOf(call)
    const first = await eventually('a fifth is stored', async () => {
      const { events } = await usage()
      return events >= COUNT / 5 && events
    })
    await ledger.killAndStart()
    const second = await eventually('half is stored', async () => {
      const { events } = await usage()
      return events >= COUNT / 2 && events
    })
    await rabbit.kill()
    await rabbit.start()
    await eventually('all are stored', async () => (await usage()).events >= COUNT && true)
    t.diagnostic(`killed the service after ${first}, the broker after ${second} of ${COUNT}`)

    const ids = new Set<string>()
    for (;;) {
      const { body } = await call<{ deliveries: { id: string; event_id: string }[] }>(
        'GET /v1/delivery/poll?limit=100',
        { token },
      )
      if (body.deliveries.length === 0) break
      for (const { event_id } of body.deliveries) {
        assert.ok(!ids.has(event_id), `${event_id} was delivered twice`)
        ids.add(event_id)
      }
      await call('POST /v1/delivery/ack', {
        token,
        body: { delivery_ids: body.deliveries.map(({ id }) => id) },
      })
    }
    assert.equal(ids.size, COUNT)
    assert.deepEqual(await usage(), { events: COUNT, deliveries: COUNT })
    assert.ok(
      !ledger.output().includes(rabbit.password) && !ledger.output().includes(encodeURIComponent(rabbit.password)),
      'no log line has the password',
    )
  })
})

test('[AMQP-7] of two nodes exactly one runs a connector, and the other takes over when it is killed', {
  skip: skip || (POSTGRES_URL ? false : 'PostgreSQL is missing'),
}, async (t) => {
  const { env, drop } = await postgres.fresh()
  t.after(drop)
  const start = () => startProcess({ ...env, OPERATOR_TOKEN, LOG_LEVEL: 'warn' })
  const nodes = [await start(), await start()]
  t.after(() => Promise.all(nodes.map((node) => node.stop())))
  const runs = async (node: RunningProcess): Promise<number> =>
    Number(/sensorium_connectors\{state="running"\} (\d+)/.exec(await (await fetch(`${node.url}/metrics`)).text())![1])
  const queue = newQueue()
  await sendAll(rabbit, queue, orders(0, 1))
  const body = JSON.stringify({ tenant: 'default', source: 'erp', url: rabbit.url, address: `/amq/queue/${queue}` })
  const made = await fetch(`${nodes[0]!.url}/operator/connectors`, {
    method: 'POST',
    body,
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/json' },
  })
  assert.equal(made.status, 201)
  const counts = await eventually('one node runs it', async () => {
    const all = await Promise.all(nodes.map(runs))
    return all.includes(1) && all
  })
  assert.deepEqual([...counts].sort(), [0, 1])
  const [owner, other] = counts[0] === 1 ? nodes : [nodes[1]!, nodes[0]!]
  const killed = Date.now()
  owner!.kill('SIGKILL')
  await eventually('the other runs it', async () => (await runs(other!)) === 1 && true)
  // Within 15 seconds on an idle machine.
  t.diagnostic(`taken over after ${((Date.now() - killed) / 1000).toFixed(1)} s`)
  // A node that shuts down cleanly gives its lease back, so the next one does not wait for its end.
  await other!.stop()
  const database = new pg.Client(env['DATABASE_URL'])
  await database.connect()
  const { rows } = await database.query('select expires_at from connector_leases')
  await database.end()
  assert.deepEqual(rows, [{ expires_at: '0' }])
  const third = await start()
  nodes.push(third)
  await eventually('the third runs it', async () => (await runs(third)) === 1 && true)
})
