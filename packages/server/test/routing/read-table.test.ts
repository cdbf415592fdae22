// How a routing table is read from the store.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordRoutingChange, recordRoutingChanges } from '../../src/routing/changes.ts'
import { fillTable, refreshTable } from '../../src/routing/read-table.ts'
import { RoutingTable } from '../../src/routing/table.ts'
import type { Insert } from '../../src/store/db.ts'
import { countedReads } from '../support/counted-reads.ts'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite } from '../support/service.ts'

const FEEDS: Insert = {
  into: 'channel_feeds',
  columns: {
    tenant_id: 'text',
    channel_id: 'text',
    id: 'text',
    event_type_glob: 'text',
    filter_expression: 'text',
    active: 'integer',
    created_at: 'bigint',
  },
}

const MEMBERS: Insert = {
  into: 'channel_members',
  columns: {
    tenant_id: 'text',
    channel_id: 'text',
    id: 'text',
    participant_type: 'text',
    participant_id: 'text',
    role: 'text',
    joined_at: 'bigint',
  },
}

onBothEngines((engine) => {
  const service = serviceForSuite(engine)

  test('[RTE-16] feeds and members are read in pages, and a channel may go on in the next page', async () => {
    const { id: tenantId } = await service.tenant()
    const feed = (i: number) => [tenantId, `chn_${i % 3}`, `fed_${i}`, `x.${i}`, null, i === 7 ? 0 : 1, 0]
    const member = (channel: string, i: number) => [tenantId, channel, `mbr_${i}`, 'agent', `agt_${i}`, 'member', 0]
    await service.store.tx(async (tx) => {
      await tx.insertMany(
        FEEDS,
        Array.from({ length: 2_500 }, (_, i) => feed(i)),
      )
      await tx.insertMany(
        MEMBERS,
        Array.from({ length: 2_200 }, (_, i) => member(i < 2_150 ? 'chn_1' : 'chn_2', i)),
      )
    })
    const { db: outsideTx, most } = countedReads(service.store.outsideTx)
    const table = await fillTable({ ...service.store, outsideTx }, tenantId, new RoutingTable())
    assert.ok(most.rows <= 1_000, `${most.rows} rows at once`)
    assert.equal(table.subscriptions.size, 2_499, 'all that are active')
    assert.deepEqual(
      ['chn_0', 'chn_1', 'chn_2'].map((id) => table.members.get(id)?.size ?? 0),
      [0, 2_150, 50],
    )
  })

  test('[RTE-20] who joins or leaves a channel is applied without reading its other members', async () => {
    const tenant = await service.tenant()
    const { id: tenantId } = tenant
    const [owner, agent] = [await tenant.agent(), await tenant.agent()]
    const open = { token: owner.token, body: { name: 'All', type: 'open' } }
    const channelId = (await service.call<{ id: string }>('POST /v1/channels', open)).body.id
    const others = Array.from({ length: 1_500 }, (_, i) => `agt_${i}`)
    await service.store.tx((tx) =>
      tx.insertMany(
        MEMBERS,
        others.map((id) => [tenantId, channelId, `mbr_${id}`, 'agent', id, 'member', 0]),
      ),
    )
    const { db: outsideTx, most } = countedReads(service.store.outsideTx)
    const store = { ...service.store, outsideTx }
    const table = await fillTable(store, tenantId, new RoutingTable())
    most.rows = 0
    const to = `/v1/channels/${channelId}/members`
    const join = async () => {
      const body = { participant_type: 'agent', participant_id: agent.id }
      assert.equal((await service.call(`POST ${to}`, { token: agent.token, body })).status, 201)
    }
    const leave = async () =>
      assert.equal((await service.call(`DELETE ${to}/agent/${agent.id}`, { token: agent.token })).status, 204)

    for (const [change, isIn] of [
      [join, true],
      [leave, false],
      [join, true],
    ] as const) {
      await change()
      assert.ok(await refreshTable(store, tenantId, table))
      assert.equal(table.members.get(channelId)!.has(agent.id), isIn)
    }
    for (const change of [leave, join, leave]) await change()
    assert.ok(await refreshTable(store, tenantId, table))
    assert.deepEqual(table.members.get(channelId), new Set([owner.id, ...others]))
    const { body } = await service.call<{ id: string }>('POST /v1/channels', open)
    assert.ok(await refreshTable(store, tenantId, table))
    assert.deepEqual(table.members.get(body.id), new Set([owner.id]))
    assert.ok(most.rows <= 3, `${most.rows} rows at once`)

    // As an older node records it: it names nobody.
    for (const id of [body.id, channelId]) {
      table.members.set(id, new Set(['agt_gone']))
      await service.store.tx((tx) => recordRoutingChange(tx, tenantId, 'channel', id, 0))
    }
    assert.ok(await refreshTable(store, tenantId, table))
    assert.deepEqual(table.members.get(body.id), new Set([owner.id]))
    assert.deepEqual(table.members.get(channelId), new Set([owner.id, ...others]))
    assert.ok(most.rows <= 1_000, `${most.rows} rows at once`)
  })

  test('[RTE-16] of filters, whether all are read or those that changed, 100 are read in a turn', async () => {
    const { id: tenantId } = await service.tenant()
    const filter = `data.x == "${'€'.repeat(4_000)}"`
    const addFeeds = (name: string) =>
      service.store.tx(async (tx) => {
        const ids = Array.from({ length: 250 }, (_, i) => `fed_${name}_${i}`)
        await tx.insertMany(
          FEEDS,
          ids.map((id) => [tenantId, 'chn_1', id, 'x.*', filter, 1, 0]),
        )
        const changes = ids.map((id) => ({ kind: 'feed' as const, id }))
        await recordRoutingChanges(tx, tenantId, changes, 0)
      })
    const { db: outsideTx, most } = countedReads(service.store.outsideTx)
    const store = { ...service.store, outsideTx }
    await addFeeds('a')
    const table = await fillTable(store, tenantId, new RoutingTable())
    await addFeeds('b')
    assert.ok(await refreshTable(store, tenantId, table))
    assert.equal(table.subscriptions.size, 500)
    assert.equal(table.version, 500)
    assert.ok(most.inTurn < 102 * 12_300, `${most.inTurn} bytes in a turn`)
  })
})
