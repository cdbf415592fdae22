// Concurrent requests, on one node and, if the store can be shared, on two.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Principal } from '../../src/auth/principal.ts'
import { createChannel } from '../../src/channels/create.ts'
import { putChannel } from '../../src/channels/put.ts'
import { idMaker } from '../../src/kernel/ids.ts'
import type { Db } from '../../src/store/db.ts'
import { onBothEngines } from '../support/engines.ts'
import { startService, type Service } from '../support/service.ts'
import { channelCalls, orgAdmin, someAgent, type Actor } from './tools.ts'

const ROUNDS = 12

const putNew: typeof createChannel = async (tx, tools, principal, wanted) =>
  (await putChannel(tx, tools, principal, wanted.external_id!, wanted)).channel

onBothEngines((engine) => {
  let service: Service
  let nodes: Service[]
  let owner: Actor
  let admin: Actor
  let agents: Actor[]
  let calls: ReturnType<typeof channelCalls>
  let tenantId: string

  before(async () => {
    service = await startService(engine)
    nodes = engine.name === 'postgres' ? [service, await service.another()] : [service]
    const tenant = await service.tenant()
    tenantId = tenant.id
    calls = channelCalls(service)
    owner = await someAgent(tenant)
    admin = await orgAdmin(service, tenant)
    agents = await Promise.all(Array.from({ length: 6 }, () => someAgent(tenant)))
  })
  after(async () => {
    for (const node of nodes.slice(1)) await node.stop()
    await service.stop()
  })

  /** Sends one request for each item concurrently, spread over the nodes. Returns the sorted statuses. */
  const atOnce = async <T>(
    items: readonly T[],
    send: (on: ReturnType<typeof channelCalls>, item: T) => Promise<{ status: number }>,
  ) =>
    (await Promise.all(items.map((item, i) => send(channelCalls(nodes[i % nodes.length]!), item))))
      .map(({ status }) => status)
      .sort()

  test('[CHN-8] of several concurrent adds to a direct channel one succeeds', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { id } = await calls.open(owner, 'direct')
      assert.deepEqual(await atOnce(agents, (on, agent) => on.add(owner, id, agent)), [201, 422, 422, 422, 422, 422])
      assert.equal((await calls.members(owner, id)).length, 2)
    }
  })

  test('[CHN-11] of several concurrent adds of one agent one succeeds, and the others name its member', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { id } = await calls.open(owner, 'private')
      const named = new Set<unknown>()
      const statuses = await atOnce([1, 2, 3, 4], async (on) => {
        const reply = await on.add(owner, id, agents[0]!)
        named.add(reply.status === 201 ? reply.body.id : reply.body.error.details['existing_resource_id'])
        return reply
      })
      assert.deepEqual(statuses, [201, 409, 409, 409])
      assert.equal(named.size, 1)
    }
  })

  test('[CHN-9] when all owners leave concurrently one of them stays', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { id } = await calls.open(owner, 'private')
      const owners = [owner, ...agents.slice(0, 3)]
      for (const agent of owners.slice(1)) assert.equal((await calls.add(owner, id, agent, 'owner')).status, 201)
      assert.deepEqual(await atOnce(owners, (on, agent) => on.remove(agent, id, agent)), [204, 204, 204, 422])
      const left = await calls.members(admin, id)
      assert.deepEqual(
        left.map(({ role }) => role),
        ['owner'],
      )
    }
  })

  test('[CHN-9] of two owners that remove each other one stays', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { id } = await calls.open(owner, 'open')
      const second = agents[0]!
      await calls.add(owner, id, second, 'owner')
      const pairs = [
        [owner, second],
        [second, owner],
      ] as const
      assert.deepEqual(await atOnce(pairs, (on, [by, whom]) => on.remove(by, id, whom)), [204, 422])
    }
  })

  test('[CHN-13] [CHN-15] of concurrent removals or deletions one succeeds, the others find nothing', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { id } = await calls.open(owner, 'private')
      await calls.add(owner, id, agents[0]!)
      const { body: feed } = await calls.feed(owner, id)
      assert.deepEqual(await atOnce([1, 2, 3], (on) => on.remove(owner, id, agents[0]!)), [204, 404, 404])
      assert.deepEqual(await atOnce([1, 2, 3], (on) => on.unfeed(owner, id, feed.id)), [204, 404, 404])
    }
  })

  test('[CHN-16] concurrent changes of all channels are recorded for routing one by one, none lost', async () => {
    const [{ n: before }] = (await service.store.rows<{ n: number }>('select count(*) as n from routing_changes')) as [
      { n: number },
    ]
    const channels = await Promise.all(agents.map((agent) => calls.open(agent, 'open')))
    const statuses = [
      ...(await atOnce(channels, (on, { id }) => on.add(admin, id, owner))),
      ...(await atOnce(channels, (on, { id }) => on.feed(owner, id))),
    ]
    // A store that is too busy refuses some; every change that was answered 201 is recorded.
    const done = statuses.filter((status) => status === 201).length
    assert.ok(done > agents.length && statuses.every((status) => status === 201 || status === 503), String(statuses))
    const versions = await service.store.rows<{ version: number }>(
      'select version from routing_changes order by version',
    )
    assert.equal(versions.length, before + channels.length + done)
    assert.deepEqual(
      versions.map(({ version }) => version),
      versions.map((_, i) => i + 1),
    )
  })

  if (engine.name === 'postgres')
    for (const verb of [createChannel, putNew])
      test(`[OPS-25] an external id that is freed while ${verb.name} looks up its holder can be used`, async () => {
        const wanted = { name: 'Incidents', type: 'open', external_id: `freed-${verb.name}` } as const
        const old = await service.call('POST /v1/channels', { token: admin.token, body: wanted })
        const principal: Principal = {
          kind: 'org_admin',
          tenantId,
          id: admin.id,
          keyId: 'k',
          scopes: new Set(),
          teamId: null,
        }
        const tools = { makeId: idMaker(service.clock.now), now: service.clock.now }
        const made = await service.store.tx((tx) => {
          // Deleted over another connection, after the insert has met the conflict and before the holder is looked up.
          const lookLate = async (...args: Parameters<Db['rows']>): Promise<never> => {
            if (args[0].includes('external_id = ?'))
              await service.call(`DELETE /v1/channels/${old.body.id}`, { token: admin.token })
            return tx.rows(...args) as Promise<never>
          }
          return verb(Object.assign(Object.create(tx) as Db, { rows: lookLate }), tools, principal, wanted)
        })
        assert.notEqual(made.id, old.body.id)
        assert.equal((await service.call(`GET /v1/channels/${made.id}`, { token: admin.token })).status, 200)
      })
})
