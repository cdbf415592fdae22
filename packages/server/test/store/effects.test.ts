// Effects of a transaction outside the store: they run after the commit, or not at all.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { makeAnnouncements } from '../../src/store/announce.ts'
import { connect } from '../../src/store/open.ts'
import { onBothEngines } from '../support/engines.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { startService, type Service } from '../support/service.ts'
import { emptyStore, type OpenedStore } from '../support/store.ts'

onBothEngines((engine) => {
  let opened: OpenedStore
  before(async () => {
    opened = await emptyStore(engine)
    await opened.store.tx((tx) => tx.run('create table effects (id text primary key)'))
  })
  after(() => opened.drop())

  test('[OPS-13] effects run in order, once the writes are visible and before the transaction resolves', async () => {
    const { store } = opened
    const order: string[] = []
    let read: Promise<unknown[]> | undefined
    await store.tx(async (tx) => {
      tx.afterCommit(() => {
        order.push('first')
        read = store.rows("select id from effects where id = 'a'")
      })
      await tx.run("insert into effects values ('a')")
      tx.afterCommit(() => order.push('second'))
      order.push('work')
    })
    order.push('resolved')
    assert.deepEqual(order, ['work', 'first', 'second', 'resolved'])
    assert.deepEqual(await read, [{ id: 'a' }])
  })

  test('[OPS-13] no effect of a rolled-back transaction runs, and all of those that share its commit do', async () => {
    const { store } = opened
    const ran: string[] = []
    const job = (id: string, fails: boolean) =>
      store.tx(async (tx) => {
        tx.afterCommit(() => ran.push(id))
        await tx.run('insert into effects values (?)', [id])
        if (fails) throw new Error(`no ${id}`)
      })
    // Requested in one turn: on SQLite they are savepoints of one commit.
    const outcomes = await Promise.allSettled([job('b', false), job('c', true), job('d', false), job('b', false)])
    const [b, c, d, again] = outcomes.map(({ status }) => status)
    assert.deepEqual([c, d], ['rejected', 'fulfilled'])
    // On PostgreSQL they run concurrently, and either of the two may be first.
    assert.deepEqual([b, again].sort(), ['fulfilled', 'rejected'])
    assert.deepEqual(ran.toSorted(), ['b', 'd'])
  })

  test('[OPS-13] a transaction whose later write fails has no effects', async () => {
    const { store } = opened
    let ran = false
    await assert.rejects(
      store.tx(async (tx) => {
        tx.afterCommit(() => (ran = true))
        tx.runLater("insert into effects values ('twice')")
        tx.runLater("insert into effects values ('twice')")
      }),
    )
    assert.equal(ran, false)
  })

  test('[OPS-13] an effect that throws is reported, and stops neither the other effects nor the caller', async (t) => {
    const warned: Error[] = []
    const hear = (warning: Error): void => void warned.push(warning)
    process.on('warning', hear)
    t.after(() => process.off('warning', hear))
    let ran = false
    const value = await opened.store.tx(async (tx) => {
      tx.afterCommit(() => {
        throw new Error('an effect stumbled')
      })
      tx.afterCommit(() => (ran = true))
      return 7
    })
    assert.deepEqual([value, ran], [7, true])
    await new Promise(setImmediate)
    assert.deepEqual(
      warned.map(({ message }) => message),
      ['an effect stumbled'],
    )
  })

  test('[OPS-13] rollback effects run once for a transaction that is undone, not for one that commits', async () => {
    const { store } = opened
    const undone: string[] = []
    const job = (id: string, fails: boolean) =>
      store.tx(async (tx) => {
        tx.afterRollback(() => undone.push(id))
        await tx.run('insert into effects values (?)', [id])
        if (fails) throw new Error(`no ${id}`)
      })
    await Promise.allSettled([job('kept', false), job('undone', true), job('kept too', false)])
    assert.deepEqual(undone, ['undone'])
    assert.throws(() => store.afterRollback(() => {}), /needs a transaction/)
  })

  test('[OPS-13] an effect needs a transaction', () => {
    assert.throws(() => opened.store.afterCommit(() => {}), /needs a transaction/)
  })

  test('[OPS-14] an announcement is heard here before the transaction resolves, soon after by another process', {
    timeout: 60_000,
  }, async (t) => {
    const service: Service = await startService(engine)
    t.after(() => service.stop())
    const clock = fakeClock()
    const far = await connect(service.config, clock)
    t.after(() => far.close())
    const [here, there] = [makeAnnouncements(service.store, clock.now), makeAnnouncements(far, clock.now)]
    const heardHere: string[] = []
    const heardThere: string[] = []
    here.listen('agent', (id) => heardHere.push(id))
    there.listen('agent', (id) => heardThere.push(id))
    await here.runOnce()
    await there.runOnce()

    await assert.rejects(
      service.store.tx(async (tx) => {
        here.announce(tx, 'agent', 'undone')
        throw new Error('rolled back')
      }),
    )
    // Repeated, because on PostgreSQL the other process may not be listening yet.
    let announced = 0
    while (heardThere.length === 0) {
      await service.store.tx(async (tx) => here.announce(tx, 'agent', `agt_${++announced}`))
      assert.equal(heardHere.length, announced)
      await there.runOnce()
      await here.runOnce()
    }
    assert.ok(!heardThere.includes('undone') && !heardHere.includes('undone'))
    assert.equal(heardHere.length, announced, 'what was announced here is not heard here twice')
  })

  // Elsewhere the commit sends announcements.
  if (engine.name !== 'sqlite') return

  test('[OPS-14] one look hears all that another process announced since the last one, oldest first', async (t) => {
    const service: Service = await startService(engine)
    t.after(() => service.stop())
    const { now } = fakeClock()
    const [here, there] = [makeAnnouncements(service.store, now), makeAnnouncements(service.store, now)]
    const heard: string[] = []
    there.listen('agent', (id) => heard.push(id))
    await service.store.tx(async (tx) => here.announce(tx, 'agent', 'before'))
    await there.runOnce()
    for (const id of ['first', 'second', 'third']) await service.store.tx(async (tx) => here.announce(tx, 'agent', id))
    await there.runOnce()
    assert.deepEqual(heard, ['first', 'second', 'third'])
    await there.runOnce()
    assert.equal(heard.length, 3)
  })
})
