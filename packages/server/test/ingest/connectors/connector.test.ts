// Connectors against a simple AMQP peer: credit, leases, and which node may receive when.
import assert from 'node:assert/strict'
import { after, afterEach, before, test, type TestContext } from 'node:test'
import rhea from 'rhea'
import { readConfig } from '../../../src/config.ts'
import { createConnector } from '../../../src/ingest/connectors/create.ts'
import { deleteConnector } from '../../../src/ingest/connectors/delete.ts'
import { pauseConnector } from '../../../src/ingest/connectors/pause.ts'
import { connectorStateOf } from '../../../src/ingest/connectors/shown-connector.ts'
import { findConnector, takeLease } from '../../../src/ingest/connectors/sql.ts'
import { makeSupervisor, type Supervisor } from '../../../src/ingest/connectors/supervise.ts'
import { idMaker } from '../../../src/kernel/ids.ts'
import { makeLogger } from '../../../src/kernel/logger.ts'
import { makeAnnouncements } from '../../../src/store/announce.ts'
import { StoreUnavailable } from '../../../src/store/db.ts'
import { openStore, type Opened } from '../../../src/store/open.ts'
import { createTenant } from '../../../src/tenants/create.ts'
import { startPeer, type AmqpPeer } from '../../support/amqp-broker.ts'
import { onBothEngines } from '../../support/engines.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { startService, type Service, type TestTenant } from '../../support/service.ts'
import { turnsUntil } from '../../support/turns-until.ts'
import { HOSTILE_MESSAGES } from './hostile-messages.ts'
import { operatorCalls } from '../tools.ts'

let testsOver = 0

/** Waits without a deadline of its own: once its test is over it stops looking. */
async function until(look: () => boolean | Promise<boolean>): Promise<void> {
  const before = testsOver
  await turnsUntil(() => {
    assert.equal(testsOver, before, 'the test is over')
    return look()
  })
}

onBothEngines((engine) => {
  let service: Service
  let tenant: TestTenant
  let calls: ReturnType<typeof operatorCalls>
  let peer: AmqpPeer
  before(async () => {
    service = await startService(engine)
    calls = operatorCalls(service)
    tenant = await service.tenant()
    peer = await startPeer()
  })
  afterEach(() => {
    testsOver++
  })
  after(async () => {
    await peer.close()
    await service.stop()
  })

  const stored = async (): Promise<number> =>
    (await service.store.rows<{ n: number }>('select count(*) as n from events where tenant_id = ?', [tenant.id]))[0]!.n

  test('[AMQP-1] messages unsettled and messages requested never exceed the credit', { timeout: 180_000 }, async () => {
    const { id } = await calls.connector({ tenant: tenant.slug, source: 'erp', url: peer.url, address: 'q', credit: 7 })
    const bodies = Array.from({ length: 500 }, (_, i) => ({ entity: 'order', action: 'made', id: i }))
    peer.offer(bodies)
    await until(() => peer.settled().accepted === 500)
    assert.ok(
      peer.mostUnsettled() <= 7 && peer.mostUnsettled() > 1,
      `${peer.mostUnsettled()} were unsettled at one time`,
    )
    assert.ok(peer.mostCredit() <= 7)
    assert.equal(await stored(), 500, 'what is accepted is on disk')
    await service.app.runOnce.superviseConnectors()
    const [connector] = (await calls.operator('GET /operator/connectors')).body.connectors
    assert.deepEqual(connector.counters, { received: 500, accepted: 500, duplicates: 0, released: 0, rejected: 0 })
    assert.equal(connector.last_message_at, new Date(service.clock.now()).toISOString())
    await calls.operator(`DELETE /operator/connectors/${id}`)
    await until(() => peer.receivers() === 0)
  })

  test('[AMQP-8] counts that the store did not take are stored with the next renewal', {
    timeout: 180_000,
  }, async (t) => {
    const { id } = await calls.connector({ tenant: tenant.slug, source: 'late', url: peer.url, address: 'q' })
    const before = peer.settled().accepted
    peer.offer(Array.from({ length: 3 }, (_, n) => ({ entity: 'order', action: 'made', id: `late-${n}` })))
    await until(() => peer.settled().accepted - before === 3)
    const { store } = service
    const { tx } = store
    t.after(() => (store.tx = tx))
    let refused = 0
    store.tx = async () => {
      refused++
      throw new StoreUnavailable('away')
    }
    await service.app.runOnce.superviseConnectors().catch(() => {})
    store.tx = tx
    assert.ok(refused > 0)
    await service.app.runOnce.superviseConnectors()
    const connectors: { id: string; counters: object }[] = (await calls.operator('GET /operator/connectors')).body
      .connectors
    const { counters } = connectors.find((connector) => connector.id === id)!
    assert.deepEqual(counters, { received: 3, accepted: 3, duplicates: 0, released: 0, rejected: 0 })
    await calls.operator(`DELETE /operator/connectors/${id}`)
    await until(() => peer.receivers() === 0)
  })

  test('[ING-8] hostile messages are rejected one by one; the connector goes on and the others are stored', {
    timeout: 180_000,
  }, async () => {
    const before = { ...peer.settled(), stored: await stored() }
    const { id } = await calls.connector({
      tenant: tenant.slug,
      source: 'hostile',
      url: peer.url,
      address: 'q',
      credit: 5,
    })
    const good = (n: number) => ({ entity: 'order', action: 'made', id: n })
    const large = rhea.message.encode({ body: rhea.message.data_section(Buffer.alloc(8_000_000, 0x20)) })
    const hostile = [...HOSTILE_MESSAGES.map(([, bytes]) => bytes), large as unknown as Buffer]
    peer.offer([good(1), ...hostile.flatMap((bytes, i) => [bytes, good(i + 2)])])
    const settled = (): number => peer.settled().accepted + peer.settled().rejected
    await until(() => settled() === before.accepted + before.rejected + 2 * hostile.length + 1)
    assert.equal(peer.settled().rejected - before.rejected, hostile.length)
    assert.equal((await stored()) - before.stored, hostile.length + 1)
    await service.app.runOnce.superviseConnectors()
    const [connector] = (await calls.operator('GET /operator/connectors')).body.connectors
    assert.deepEqual(
      [connector.state, connector.counters.rejected, connector.counters.released],
      ['running', hostile.length, 0],
    )
    assert.match(connector.last_error, /^a message was rejected: /)
    await calls.operator(`DELETE /operator/connectors/${id}`)
    await until(() => peer.receivers() === 0)
  })

  test('[ING-11] a CloudEvent with an id of another source is rejected; its own and unreserved ids pass', {
    timeout: 180_000,
  }, async () => {
    const before = peer.settled()
    await calls.webhook({ tenant: tenant.slug, source: 'shop' })
    const { id } = await calls.connector({ tenant: tenant.slug, source: 'bus', url: peer.url, address: 'q' })
    const event = (name: string): Buffer => {
      const envelope = { specversion: '1.0', type: 'com.example.made', source: '/bus', id: name }
      const body = rhea.message.data_section(Buffer.from(JSON.stringify(envelope)))
      return rhea.message.encode({ body, content_type: 'application/cloudevents+json' }) as unknown as Buffer
    }
    peer.offer([event('shop:o-1'), event('bus:o-1'), event('A-1')])
    await until(() => peer.settled().accepted - before.accepted + peer.settled().rejected - before.rejected === 3)
    assert.equal(peer.settled().rejected - before.rejected, 1)
    const rows = await service.store.rows<{ id: string }>(
      "select id from events where tenant_id = ? and type = 'com.example.made' order by id",
      [tenant.id],
    )
    assert.deepEqual(rows.map((row) => row.id).sort(), ['A-1', 'bus:o-1'])
    await calls.operator(`DELETE /operator/connectors/${id}`)
    await until(() => peer.receivers() === 0)
  })

  /** Nodes that the test runs by hand: each with its own connection to one new store, all with one clock. */
  async function nodes(t: TestContext, count: number) {
    const { env, drop } = await engine.fresh()
    const clock = fakeClock()
    const opened: Opened[] = []
    const supervisors: Supervisor[] = []
    const open = async (): Promise<Opened> => {
      const one = await openStore(readConfig(env), clock)
      opened.push(one)
      return one
    }
    const add = async (): Promise<Supervisor> => {
      const one = await open()
      const publish = async () => assert.fail('nothing is sent')
      const supervisor = makeSupervisor({
        ...one,
        publish,
        clock,
        log: makeLogger('silent'),
        maxEventBytes: 1000,
        announcements: makeAnnouncements(one.store, clock.now),
        count: () => {},
      })
      supervisors.push(supervisor)
      return supervisor
    }
    t.after(async () => {
      for (const supervisor of supervisors) await supervisor.close()
      for (const { store } of opened) await store.close()
      await drop()
    })
    const { store, secrets } = await open()
    const { announce } = makeAnnouncements(store, clock.now)
    const tools = { makeId: idMaker(clock.now), secrets, announce, now: clock.now }
    const { connector } = await store.tx(async (tx) => {
      await createTenant(tx, tools, 'acme')
      return createConnector(tx, tools, { tenant: 'acme', source: 'erp', url: peer.url, address: 'q' })
    })
    // Only now, because a node that hears the connector's announcement would act before the test tells it to.
    for (let i = 0; i < count; i++) await add()
    const state = async () => connectorStateOf((await findConnector(store, connector.id))!, clock.now())
    return { clock, supervisors: supervisors as [Supervisor, Supervisor], store, tools, id: connector.id, state, add }
  }
  const runs = (supervisor: Supervisor): number => Object.values(supervisor.states()).reduce((sum, n) => sum + n, 0)

  if (engine.name === 'postgres') {
    test('[AMQP-7] a lease that is not renewed is given up before another node may take it', {
      timeout: 180_000,
    }, async (t) => {
      const {
        clock,
        supervisors: [a, b],
        state,
      } = await nodes(t, 2)
      await Promise.all([a.runOnce(), b.runOnce()])
      const [owner, other] = runs(a) === 1 ? [a, b] : [b, a]
      assert.deepEqual([runs(owner), runs(other)], [1, 0], 'of two that look at once one gets it')
      await until(() => peer.receivers() === 1)
      // The owner no longer reaches the store; only its own clock goes on.
      await clock.advance(7_999)
      await owner.stopLapsed()
      await other.runOnce()
      assert.deepEqual([runs(owner), runs(other)], [1, 0])
      await clock.advance(1)
      await owner.stopLapsed()
      assert.equal(runs(owner), 0)
      await until(() => peer.receivers() === 0)
      await clock.advance(2_000)
      await other.runOnce()
      assert.equal(runs(other), 1)
      await owner.runOnce()
      assert.deepEqual([runs(owner), runs(other)], [0, 1], 'who comes back finds it taken')
      await until(() => peer.receivers() === 1)
      await until(async () => (await other.runOnce(), (await state()) === 'running'))
      // A renewed lease is no longer than a new one: it is free ten seconds after its node was last heard of.
      await clock.advance(9_999)
      await owner.runOnce()
      assert.deepEqual([runs(owner), await state()], [0, 'running'])
      await clock.advance(1)
      assert.equal(await state(), 'starting')
      await owner.runOnce()
      assert.equal(runs(owner), 1)
    })

    test('[AMQP-7] a node whose lease was taken stops; one that renews keeps it for ever', {
      timeout: 180_000,
    }, async (t) => {
      const {
        clock,
        supervisors: [a, b],
        store,
        id,
      } = await nodes(t, 2)
      await a.runOnce()
      for (let i = 0; i < 10; i++) {
        await clock.advance(2_000)
        await a.runOnce()
        await a.stopLapsed()
        await b.runOnce()
        assert.deepEqual([runs(a), runs(b)], [1, 0])
      }
      await store.tx((tx) =>
        tx.run("update connector_leases set node = 'another', expires_at = ? where connector_id = ?", [
          clock.now() + 10_000,
          id,
        ]),
      )
      await a.runOnce()
      // Nor does the node that stops free a lease that is not its own.
      await b.runOnce()
      assert.deepEqual([runs(a), runs(b)], [0, 0])
      await until(() => peer.receivers() === 0)
    })
  } else {
    test('[AMQP-7] with the embedded store a new process does not wait for the lease of a dead one', {
      timeout: 180_000,
    }, async (t) => {
      const { store, add } = await nodes(t, 1)
      const [row] = await store.rows<{ tenant_id: string; id: string }>('select tenant_id, id from connectors')
      await store.tx((tx) =>
        takeLease(
          tx,
          { tenantId: row!.tenant_id, id: row!.id, node: 'a process that was killed' },
          Number.MAX_SAFE_INTEGER,
          0,
        ),
      )
      const next = await add()
      await next.runOnce()
      assert.equal(runs(next), 1)
    })
  }

  test('[AMQP-7] a connector that is still stopping is not started again: its lease is freed at the end', {
    timeout: 180_000,
  }, async (t) => {
    const {
      clock,
      supervisors: [a],
      store,
      id,
    } = await nodes(t, 1)
    const isLeased = async (): Promise<boolean> => {
      const [row] = await store.rows<{ expires_at: number }>(
        'select expires_at from connector_leases where connector_id = ?',
        [id],
      )
      return row!.expires_at > clock.now()
    }
    await a.runOnce()
    await until(() => peer.receivers() === 1)
    await clock.advance(8_000)
    const stopping = a.stopLapsed()
    await a.runOnce()
    await stopping
    assert.deepEqual([runs(a), await isLeased()], [0, false])
    await a.runOnce()
    assert.deepEqual([runs(a), await isLeased()], [1, true])
  })

  test('[OPS-8] paused and deleted connectors are noticed in the next round', { timeout: 180_000 }, async (t) => {
    const {
      supervisors: [a],
      store,
      tools,
      id,
      state,
    } = await nodes(t, 1)
    await a.runOnce()
    await until(async () => (await a.runOnce(), (await state()) === 'running'))
    await store.tx((tx) => pauseConnector(tx, tools, id, true))
    await a.runOnce()
    assert.deepEqual([runs(a), await state()], [0, 'paused'])
    await until(() => peer.receivers() === 0)
    await store.tx((tx) => pauseConnector(tx, tools, id, false))
    assert.equal(await state(), 'starting')
    await a.runOnce()
    await until(() => peer.receivers() === 1)
    await store.tx((tx) => deleteConnector(tx, tools, id))
    await a.runOnce()
    assert.equal(runs(a), 0)
    await until(() => peer.receivers() === 0)
  })
})
