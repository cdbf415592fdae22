// The routing that a node keeps in memory is what is committed, whatever happens to concurrent transactions.
import assert from 'node:assert/strict'
import { before, beforeEach, describe, test } from 'node:test'
import { NO_ADDRESSEES } from '../../src/events/addressee.ts'
import { NONE_KNOWN } from '../../src/events/causation.ts'
import { prepareEvent } from '../../src/events/envelope.ts'
import { makePublish } from '../../src/events/publish.ts'
import { makeWriteGroup } from '../../src/events/write-group.ts'
import { recordRoutingChange } from '../../src/routing/changes.ts'
import { makeRouter, RoutingMoved, type Router } from '../../src/routing/router.ts'
import type { RoutingTable } from '../../src/routing/table.ts'
import type { Db, Store } from '../../src/store/db.ts'
import { onBothEngines, type Engine } from '../support/engines.ts'
import { serviceForSuite, type TestAgent, type TestTenant } from '../support/service.ts'
import { event, eventIds, interest, poll, publish } from '../events/tools.ts'
import { routerSuite } from './router-suite.ts'

/** Adds a table in which a dangling reference makes the commit fail: the engines check it at the very end. */
const breakable = async (store: Store): Promise<void> => {
  await store.tx(async (tx) => {
    await tx.run('create table whole (id integer primary key)')
    await tx.run('create table broken (id integer references whole (id) deferrable initially deferred)')
  })
}
const breakCommit = (tx: Db): Promise<number> => tx.run('insert into broken values (99)')

/** Makes the store refuse writes as with a full disk. Returns a function that ends it. */
async function fillDisk(engine: Engine, store: Store): Promise<() => Promise<void>> {
  if (engine.name === 'sqlite') {
    const pages = (await store.rows<{ page_count: number }>('pragma page_count'))[0]!.page_count
    await store.tx((tx) => tx.rows(`pragma max_page_count = ${pages}`))
    return async () => void (await store.tx((tx) => tx.rows('pragma max_page_count = 1000000')))
  }
  await store.tx(async (tx) => {
    await tx.run(
      `create function disk_full() returns trigger language plpgsql as
         $$ begin raise exception 'no space left on device' using errcode = '53100'; end $$`,
    )
    for (const table of ['interests', 'routing_changes'])
      await tx.run(
        `create constraint trigger full_${table} after insert on ${table} deferrable initially deferred
         for each row execute function disk_full()`,
      )
  })
  return async () => void (await store.tx((tx) => tx.run('drop function disk_full() cascade')))
}

onBothEngines((engine) => {
  describe('the router', () => {
    const suite = routerSuite(engine)
    const { service, parts, subscribe, tableNow } = suite
    before(() => breakable(service.store))
    let store: Store
    let tenant: TestTenant
    let agent: TestAgent
    let router: Router
    beforeEach(async () => {
      ;({ store, tenant, agent, router } = await suite.fresh())
    })

    const globs = (table: RoutingTable): string[] => [...table.subscriptions.values()].map(({ glob }) => glob).sort()
    const stored = async (): Promise<string[]> =>
      (
        await store.rows<{ event_type: string }>(
          'select event_type from interests where tenant_id = ? order by event_type',
          [tenant.id],
        )
      ).map((row) => row.event_type)

    test('[RTE-2] a transaction that reads its own change and fails to commit leaves nothing behind', async () => {
      await assert.rejects(
        store.tx(async (tx) => {
          await subscribe(tx, 'ghost.*')
          await router.tables(tx, [tenant.id], false)
          await breakCommit(tx)
        }),
      )
      assert.deepEqual(globs(await tableNow()), [])
      // This one gets the version that the lost one had.
      await store.tx((tx) => subscribe(tx, 'real.*'))
      assert.deepEqual(globs(await tableNow()), ['real.*'])
      assert.deepEqual(globs(await tableNow()), await stored())
    })

    test('[RTE-2] transactions that share a failed commit leave nothing behind', async () => {
      const together = [
        store.tx((tx) => subscribe(tx, 'maybe.*')),
        store.tx((tx) => router.tables(tx, [tenant.id], false)),
        store.tx((tx) => breakCommit(tx)),
      ]
      assert.equal((await Promise.allSettled(together)).at(-1)!.status, 'rejected')
      assert.deepEqual(globs(await tableNow()), await stored())
      await store.tx((tx) => subscribe(tx, 'real.*'))
      assert.ok(globs(await tableNow()).includes('real.*'))
      assert.deepEqual(globs(await tableNow()), await stored())
    })

    test('[RTE-3] a version that is reused for another change is not mistaken for the first', async () => {
      await store.tx((tx) => subscribe(tx, 'lost.*'))
      assert.deepEqual(globs(await tableNow()), ['lost.*'])
      // As after a fail-over to a copy that lacks the last change.
      await store.tx(async (tx) => {
        for (const table of ['interests', 'routing_changes', 'routing_versions'])
          await tx.run(`delete from ${table} where tenant_id = ?`, [tenant.id])
      })
      assert.deepEqual(globs(await tableNow()), [])
      await store.tx((tx) => subscribe(tx, 'first.*'))
      assert.deepEqual(globs(await tableNow()), ['first.*'])
      await store.tx(async (tx) => {
        for (const table of ['interests', 'routing_changes', 'routing_versions'])
          await tx.run(`delete from ${table} where tenant_id = ?`, [tenant.id])
        await subscribe(tx, 'other.*')
      })
      assert.deepEqual(globs(await tableNow()), ['other.*'])
      await store.tx(async (tx) => {
        for (const table of ['interests', 'routing_changes', 'routing_versions'])
          await tx.run(`delete from ${table} where tenant_id = ?`, [tenant.id])
        await subscribe(tx, 'a.*')
        await subscribe(tx, 'b.*')
      })
      assert.deepEqual(globs(await tableNow()), ['a.*', 'b.*'])
    })

    test('[RTE-3] what was routed by a version that is reused for another change is routed again', async () => {
      await store.tx((tx) => subscribe(tx, 'com.test.*'))
      const { version } = await tableNow()
      const envelope = event()
      const events = [prepareEvent(envelope, JSON.stringify(envelope))]
      const byAnother = { version, stamp: 'another', steps: 0, addressees: NO_ADDRESSEES }
      const routed = { ...byAnother, events: [{ matches: [], refused: null }] }
      const { makeId, clock, handover } = parts()
      const write = makeWriteGroup(router, makeId, clock)
      const group = [{ submission: { tenantId: tenant.id, senderId: agent.id, events }, routed }]
      const { added } = await store.tx((tx) => write(tx, group, true, handover.take, NONE_KNOWN))
      assert.deepEqual(
        added.map(({ recipient_id }) => recipient_id),
        [agent.id],
      )
    })

    test('[RTE-16] a transaction does not read a whole table: it starts over when the table has been read', async () => {
      await store.tx((tx) => subscribe(tx, 'kept.*'))
      const read = () => store.tx((tx) => router.tables(tx, [tenant.id], true))
      await read() // one change behind
      // As after a restore: nobody knows what has changed.
      await store.tx((tx) => tx.run('delete from routing_changes where tenant_id = ?', [tenant.id]))
      await store.tx((tx) => tx.run("update routing_versions set stamp = 'other' where tenant_id = ?", [tenant.id]))
      await assert.rejects(read(), RoutingMoved)
      const [table] = (await router.prepare([tenant.id])).values()
      assert.deepEqual(globs(table!), ['kept.*'])
      assert.equal((await read()).get(tenant.id), table)
      await store.tx((tx) => tx.run("update routing_versions set stamp = 'third' where tenant_id = ?", [tenant.id]))
      const publishHere = makePublish({ ...parts(), store, router })
      const sent = prepareEvent(event({ type: 'kept.one' }), '')
      const [outcome] = await publishHere({
        tenantId: tenant.id,
        senderId: agent.id,
        events: [sent],
        isIngested: false,
      })
      assert.equal(outcome!.status === 'accepted' && outcome!.recipients, 1)
    })
    test('[RTE-19] tables are evicted by the bytes of their texts, also when another has grown', async () => {
      const idle = tenant.id
      const small = makeRouter(store, () => {}, 2 * 1_048_576)
      const grown = await suite.fresh()
      await small.prepare([idle, grown.tenant.id])
      const look = () => store.tx((tx) => small.tables(tx, [grown.tenant.id], false))
      const text = (i: number) => `data.x == "${i}${'😀'.repeat(4_000)}"`
      await store.tx(async (tx) => {
        for (let i = 0; i < 100; i++) await subscribe(tx, 'same', text(i))
      })
      await look()
      assert.ok(small.known(idle), 'both fit')
      await store.tx(async (tx) => {
        for (let i = 100; i < 140; i++) await subscribe(tx, 'same', text(i))
      })
      const table = (await look()).get(grown.tenant.id)!
      assert.equal(small.known(idle), undefined)
      assert.equal(small.known(grown.tenant.id), table, 'that of the tenant that publishes is kept')
      assert.ok(table.bytes > 140 * 16_000 && table.bytes < 140 * 17_000, `${table.bytes}`)
      for (const id of [...table.subscriptions.keys()]) table.remove(id)
      assert.equal(table.bytes, 0)
    })

    test('[RTE-2] the router catches up with many changes, and with changes whose rows are gone', async () => {
      await store.tx(async (tx) => {
        for (let i = 0; i < 1_100; i++) await subscribe(tx, `many.${i}`)
      })
      assert.equal((await tableNow()).subscriptions.size, 1_100)
      await store.tx(async (tx) => {
        await tx.run('delete from interests where tenant_id = ?', [tenant.id])
        await recordRoutingChange(tx, tenant.id, 'interest', 'int_none', 0)
        await tx.run('delete from routing_changes where tenant_id = ?', [tenant.id])
      })
      assert.equal((await tableNow()).subscriptions.size, 0)
    })
  })

  describe('a full disk', () => {
    const service = serviceForSuite(engine)

    test('[RTE-2] interests that a full disk refused receive nothing, and those after it receive everything', async () => {
      const tenant = await service.tenant()
      const [ghost, real, sender] = [await tenant.agent(), await tenant.agent(), await tenant.agent()]
      await interest(service, sender, { event_type: 'full.*' })
      await publish(service, sender.token, { type: 'full.before' })
      const freeDisk = await fillDisk(engine, service.store)
      const refused: number[] = []
      for (let round = 0; round < 60; round++) {
        const replies = await Promise.all([
          interest(service, ghost, {
            event_type: 'full.*',
            filter_expression: `data.n != "${'x'.repeat(3_000)}${round}"`,
          }),
          publish(service, sender.token, { type: 'full.during', data: { n: 1 } }),
        ])
        refused.push(replies[0].status)
      }
      await freeDisk()
      assert.ok(refused.includes(503), String(refused))
      for (const made of (await service.call(`GET /v1/agents/${ghost.id}/interests`, { token: ghost.token })).body
        .interests)
        await service.call(`DELETE /v1/agents/${ghost.id}/interests/${made.id}`, { token: ghost.token })
      await poll(service, ghost.token)
      assert.equal((await interest(service, real, { event_type: 'full.*' })).status, 201)
      const sent = await publish(service, sender.token, { type: 'full.after', data: { n: 1 } })
      assert.equal(sent.body.recipients, 2)
      assert.deepEqual(eventIds(await poll(service, real.token)), [sent.body.event_id])
      assert.ok(!eventIds(await poll(service, ghost.token)).includes(sent.body.event_id))
    })
  })
})
