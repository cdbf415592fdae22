// Batches whose events have thousands of recipients together.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite, tenantForSuite, type Reply, type TestAgent } from '../support/service.ts'
import { event } from './tools.ts'

const MEMBERS = 1_100

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)
  let sender: TestAgent
  let channelId: string
  before(async () => {
    sender = await tenant.agent()
    const body = { name: 'everybody', type: 'open' }
    const channel = await service.call<{ id: string }>('POST /v1/channels', { token: sender.token, body })
    assert.equal(channel.status, 201, channel.text)
    channelId = channel.body.id
    const ids = Array.from({ length: MEMBERS }, (_, i) => `agt_${String(i).padStart(26, '0')}`)
    await service.store.tx(async (tx) => {
      await tx.insertMany(
        {
          into: 'agents',
          columns: {
            tenant_id: 'text',
            id: 'text',
            name: 'text',
            status: 'text',
            delivery_mode: 'text',
            client_type: 'text',
            created_at: 'bigint',
            updated_at: 'bigint',
          },
        },
        ids.map((id) => [tenant.id, id, 'Member', 'active', 'poll', 'other', 1, 1]),
      )
      await tx.insertMany(
        {
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
        },
        ids.map((id) => [tenant.id, channelId, `mbr_${id.slice(4)}`, 'agent', id, 'member', 1]),
      )
    })
    // A change of routing by the API makes the node read the members again.
    await service.call(`POST /v1/channels/${channelId}/feeds`, {
      token: sender.token,
      body: { event_type: 'never', enrichment_depth: 'none', priority: 0 },
    })
  })

  const publish = (ids: string[], key?: string): Promise<Reply> =>
    service.call('POST /v1/events', {
      token: sender.token,
      raw: JSON.stringify(ids.map((id) => event({ id, recipient: channelId }))),
      headers: { 'content-type': 'application/cloudevents-batch+json', ...(key ? { 'idempotency-key': key } : {}) },
    })

  /** Returns how many events the transactions insert while `work` runs. */
  async function groupsOf(work: () => Promise<unknown>): Promise<number[]> {
    const groups: number[] = []
    const { tx } = service.store
    service.store.tx = (write, options) =>
      tx(
        (db) =>
          write({
            ...db,
            insertMany(insert, rows) {
              if (insert.into === 'events') groups.push(rows.length)
              return db.insertMany(insert, rows)
            },
          }),
        options,
      )
    await work()
    service.store.tx = tx
    return groups
  }

  test('[LOAD-9] a batch is published in parts of at most 2,000 deliveries', async () => {
    const ids = ['a', 'b', 'c']
    let reply!: Reply
    assert.deepEqual(await groupsOf(async () => (reply = await publish(ids))), [1, 1, 1])
    assert.equal(reply.status, 200, reply.text)
    const { recipients } = reply.body.results[0]
    assert.ok(recipients >= MEMBERS, String(recipients))
    assert.deepEqual(
      reply.body.results,
      ids.map((event_id) => ({ event_id, status: 'accepted', recipients })),
    )
    const [stored] = await service.store.rows<{ n: number }>(
      'select count(*) as n from deliveries where tenant_id = ?',
      [tenant.id],
    )
    assert.equal(stored!.n, 3 * recipients)
  })

  test('[LOAD-9] [STO-2] with an idempotency key it is published at once, with its record', async () => {
    assert.deepEqual(await groupsOf(() => publish(['f', 'g', 'h'], 'wide')), [3])
    assert.equal((await publish(['f', 'g', 'h'], 'wide')).headers.get('idempotent-replayed'), 'true')
  })

  test('[LOAD-9] [PUB-2] an id that comes twice in different parts is published once', async () => {
    const { body } = await publish(['d', 'e', 'd'])
    assert.deepEqual(
      body.results.map(({ status }: { status: string }) => status),
      ['accepted', 'accepted', 'duplicate'],
    )
  })
})
