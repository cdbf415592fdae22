// Mailboxes of agents that are inactive or have no endpoint yet, and of org-admins.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite } from '../support/service.ts'

interface Delivery {
  id: string
  event_id: string
}

onBothEngines((engine) => {
  const service = serviceForSuite(engine)

  const call = (token: string, request: string, body?: unknown) => service.call(request, { token, body })
  const publish = (token: string, id: string) =>
    call(token, 'POST /v1/events', { specversion: '1.0', type: 'com.example.said', source: '/x', id })
  const listen = (agent: { id: string; token: string }) =>
    call(agent.token, `POST /v1/agents/${agent.id}/interests`, {
      event_type: 'com.example.*',
      priority: 0,
      enrichment_depth: 'none',
    })
  const poll = async (token: string): Promise<string[]> =>
    (await call(token, 'GET /v1/delivery/poll?limit=100')).body.deliveries
      .map(({ event_id }: Delivery) => event_id)
      .sort()

  test('[AGT-9] an inactive agent gets nothing new, by interest or feed; queued deliveries wait', async () => {
    const tenant = await service.tenant()
    const [listener, member, sender] = [await tenant.agent(), await tenant.agent(), await tenant.agent()]
    await listen(listener)
    const channel = await call(sender.token, 'POST /v1/channels', { name: 'Corridor', type: 'open' })
    await call(sender.token, `POST /v1/channels/${channel.body.id}/members`, {
      participant_type: 'agent',
      participant_id: member.id,
    })
    await call(sender.token, `POST /v1/channels/${channel.body.id}/feeds`, { event_type_glob: 'com.example.*' })
    await publish(sender.token, 'before')
    for (const { id } of [listener, member]) await call(tenant.admin, `POST /v1/agents/${id}/deactivate`)
    await publish(sender.token, 'meanwhile')
    await service.clock.advance(3_600)
    for (const { id } of [listener, member]) await call(tenant.admin, `POST /v1/agents/${id}/activate`)
    await publish(sender.token, 'after')
    assert.deepEqual(await poll(listener.token), ['after', 'before'])
    assert.deepEqual(await poll(member.token), ['after', 'before'])
    assert.deepEqual(await poll(sender.token), ['after', 'before', 'meanwhile'])
  })

  test('[AGT-10] a push agent without an endpoint can poll everything', async () => {
    const agent = await (await service.tenant()).agent({ mode: 'push' })
    await listen(agent)
    await publish(agent.token, 'one')
    await service.clock.advance(5_000)
    assert.deepEqual(await poll(agent.token), ['one'])
    assert.equal((await call(agent.token, 'GET /v1/delivery/dlq')).body.total, 0)
  })

  test('[TEN-9] an org-admin publishes, is a channel member, and has a queue of its own', async () => {
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    const [, claims] = tenant.admin.split('.')
    const participant_id = JSON.parse(Buffer.from(claims!, 'base64url').toString()).sub
    const channel = await call(agent.token, 'POST /v1/channels', { name: 'Office', type: 'private' })
    const added = await call(agent.token, `POST /v1/channels/${channel.body.id}/members`, {
      participant_type: 'org_admin',
      participant_id,
    })
    assert.equal(added.status, 201)
    await call(agent.token, `POST /v1/channels/${channel.body.id}/feeds`, { event_type_glob: 'com.example.*' })
    assert.equal((await publish(tenant.admin, 'from the office')).status, 202)
    const { deliveries } = (await call(tenant.admin, 'GET /v1/delivery/poll')).body
    assert.deepEqual(
      deliveries.map(({ event_id }: Delivery) => event_id),
      ['from the office'],
    )
    assert.deepEqual(await poll(agent.token), ['from the office'])
    const delivery_ids = deliveries.map(({ id }: Delivery) => id)
    assert.deepEqual((await call(agent.token, 'POST /v1/delivery/ack', { delivery_ids })).body, { acknowledged: 0 })
    assert.deepEqual((await call(tenant.admin, 'POST /v1/delivery/ack', { delivery_ids })).body, { acknowledged: 1 })
  })
})
