// The store goes away during a commit, so that nobody knows whether the transaction was written.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StoreUnavailable, type Db, type Insert, type Value } from '../../src/store/db.ts'
import { poll, publish } from '../events/tools.ts'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { serviceForSuite, type Reply } from '../support/service.ts'

onBothEngines((engine) => {
  const service = serviceForSuite(engine)

  /**
   * Loses the store during the commit of the next transaction with such a write, which is done all the same or not.
   */
  function loseCommit(isOfIt: (write: string) => boolean, isDone: boolean): void {
    const { store } = service
    const { tx } = store
    store.tx = async <T>(work: (db: Db) => Promise<T>, options?: Parameters<typeof tx>[1]): Promise<T> => {
      const lost = new StoreUnavailable('lost during the commit', { trouble: 'unsure' })
      let isLost = false
      const note = (write: string): void => void (isLost ||= isOfIt(write))
      const result = await tx(async (db) => {
        const done = await work({
          ...db,
          run: (sql, values) => (note(sql), db.run(sql, values)),
          insertMany: <R>(insert: Insert, rows: readonly (readonly Value[])[]) => (
            note(insert.into), db.insertMany<R>(insert, rows)
          ),
        })
        if (isLost) store.tx = tx
        if (isLost && !isDone) throw lost
        return done
      }, options)
      if (isLost) throw lost
      return result
    }
  }

  for (const [name, isOfIt] of [
    ['makes the interest', (write: string) => write === 'interests'],
    ['fills its mailbox', (write: string) => write.startsWith('update idempotency set status')],
  ] as const) {
    for (const isDone of [true, false]) {
      for (const key of ['a-key', null]) {
        const title = `the commit that ${name} is lost, and ${isDone ? 'done' : 'not done'}`
        if (key === null && name === 'fills its mailbox') continue // only the record tells this commit from others
        test(`[IDEM-8] [RACE-10] ${title}: a retry ${key ? 'with the key' : 'without a key'} has one interest`, async () => {
          const tenant = await service.tenant()
          const agent = await tenant.agent()
          await publish(service, agent.token)
          const create = (): Promise<Reply> =>
            service.call(`POST /v1/agents/${agent.id}/interests`, {
              token: agent.token,
              body: { event_type: 'com.test.*', priority: 0, enrichment_depth: 'none', backfill: 10 },
              headers: key === null ? {} : { 'idempotency-key': key },
            })
          loseCommit(isOfIt, isDone)
          assertError(await create(), 'service_unavailable')
          const again = await create()
          assert.equal(again.status, 201, again.text)
          const isReplay = isDone && name === 'fills its mailbox'
          assert.equal(again.headers.get('idempotent-replayed'), isReplay ? 'true' : null)
          const list = await service.call(`GET /v1/agents/${agent.id}/interests`, { token: agent.token })
          assert.deepEqual(list.body.interests, [again.body])
          assert.equal((await poll(service, agent.token)).length, 1)
        })
      }
    }
  }

  test('[IDEM-8] [RACE-10] a service that ends before it fills the mailbox: a retry with the key fills it', async () => {
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    await publish(service, agent.token)
    const create = (): Promise<Reply> =>
      service.call(`POST /v1/agents/${agent.id}/interests`, {
        token: agent.token,
        body: { event_type: 'com.test.*', priority: 0, enrichment_depth: 'none', backfill: 10 },
        headers: { 'idempotency-key': 'ended' },
      })
    const { store } = service
    const { tx } = store
    store.tx = async (work, options) => {
      let isBegun = false
      const insertMany = (db: Db) => {
        return <R>(insert: Insert, rows: readonly (readonly Value[])[]) => {
          isBegun ||= insert.into === 'interests'
          return db.insertMany<R>(insert, rows)
        }
      }
      const result = await tx((db) => work({ ...db, insertMany: insertMany(db) }), options)
      // From here on the process is as good as ended: it writes nothing more.
      if (isBegun) store.tx = async () => Promise.reject(new StoreUnavailable('ended', { trouble: 'unsure' }))
      return result
    }
    assertError(await create(), 'service_unavailable')
    store.tx = tx
    await service.clock.advance(31_000)
    const again = await create()
    assert.equal(again.status, 201, again.text)
    const list = await service.call(`GET /v1/agents/${agent.id}/interests`, { token: agent.token })
    assert.deepEqual(list.body.interests, [again.body])
    assert.equal((await poll(service, agent.token)).length, 1)
    assert.deepEqual((await create()).body, again.body)
  })
})
