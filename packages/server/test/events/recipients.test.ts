// Events that are addressed to an agent or to the members of a channel.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { findAddressees } from '../../src/events/addressee.ts'
import { prepareEvent } from '../../src/events/envelope.ts'
import { idMaker } from '../../src/kernel/ids.ts'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite, tenantForSuite, type TestAgent } from '../support/service.ts'
import { ack, event, eventIds, ids, interest, poll, publish } from './tools.ts'

onBothEngines((engine) => {
  describe('recipients', () => {
    const service = serviceForSuite(engine, { MAX_ATTEMPTS: '1' })
    const tenant = tenantForSuite(service)
    let sender: TestAgent
    before(async () => {
      sender = await tenant.agent()
    })

    async function channel(type: string, owner: TestAgent, members: TestAgent[] = []): Promise<string> {
      const made = await service.call('POST /v1/channels', { token: owner.token, body: { name: 'Room', type } })
      assert.equal(made.status, 201, made.text)
      for (const { id } of members) await join(made.body.id, id)
      return made.body.id
    }
    const join = (channelId: string, id: string) =>
      service.call(`POST /v1/channels/${channelId}/members`, {
        token: tenant.admin,
        body: { participant_type: 'agent', participant_id: id },
      })
    const setActive = (agent: TestAgent, to: 'activate' | 'deactivate') =>
      service.call(`POST /v1/agents/${agent.id}/${to}`, { token: tenant.admin })
    const receipts = async (eventId: string) =>
      (await service.call(`GET /v1/events/${eventId}`, { token: sender.token })).body.deliveries

    test('[RCP-9] what no participant of the tenant sends addresses nobody', async () => {
      const envelope = event({ recipient: sender.id })
      const prepared = prepareEvent(envelope, JSON.stringify(envelope))
      const found = (from: string) => findAddressees(service.store, tenant.id, from, [prepared])
      assert.deepEqual((await found(sender.id)).get(prepared), { kind: 'agent', id: sender.id })
      const makeId = idMaker(service.clock.now)
      for (const from of ['webhook', 'connector'] as const) assert.equal((await found(makeId(from))).size, 0)
    })

    test('[RCP-1] [RCP-8] an addressed event goes to its recipient and to agents whose interests match', async () => {
      const [to, listener] = [await tenant.agent(), await tenant.agent()]
      await interest(service, listener, { event_type: 'ask.price' })
      const fields = { type: 'ask.price', recipient: to.id, replyto: sender.id, correlationid: 'c-1', data: { sku: 7 } }
      const sent = await publish(service, sender.token, fields)
      assert.deepEqual([sent.status, sent.body.recipients], [202, 2])
      const [delivery] = await poll(service, to.token)
      assert.equal(delivery!.event_id, sent.body.event_id)
      assert.equal(delivery!.payload['recipient'], to.id)
      assert.equal(delivery!.payload['replyto'], sender.id)
      assert.equal(delivery!.payload['correlationid'], 'c-1')
      assert.ok(!('enrichment' in delivery!.payload))
      assert.deepEqual(eventIds(await poll(service, listener.token)), [sent.body.event_id])
      assert.deepEqual(await poll(service, sender.token), [])
      const made = await receipts(sent.body.event_id)
      const of = (agent: TestAgent) => made.find((receipt: { agent_id: string }) => receipt.agent_id === agent.id)
      assert.deepEqual(of(to).matched, [{ kind: 'recipient', id: to.id }])
      assert.equal(of(listener).matched[0].kind, 'interest')
      // The reply goes back the same way; a sender may write to itself too.
      const reply = {
        type: 'ask.answered',
        recipient: sender.id,
        correlationid: 'c-1',
        causationid: sent.body.event_id,
      }
      assert.equal((await publish(service, to.token, reply)).body.recipients, 1)
      assert.equal((await poll(service, sender.token))[0]!.payload['correlationid'], 'c-1')
      assert.equal((await publish(service, to.token, { type: 'note', recipient: to.id })).body.recipients, 1)
    })

    test('[RCP-1] one delivery, with the priority and the enrichment of an interest that matches too', async () => {
      const to = await tenant.agent()
      await service.call('POST /v1/memories', {
        token: to.token,
        body: { type: 'semantic', scope: 'agent', title: 'Pump 7', content: 'Pump 7 leaks at the valve' },
      })
      const made = await interest(service, to, { event_type: 'pump.*', priority: 9, enrichment_depth: 'light' })
      const data = { text: 'Pump 7 leaks' }
      const plain = await publish(service, sender.token, { type: 'other', recipient: to.id, data })
      const both = await publish(service, sender.token, { type: 'pump.leaks', recipient: to.id, data })
      assert.equal(both.body.recipients, 1)
      const [first, second] = await poll(service, to.token)
      assert.deepEqual([first!.event_id, second!.event_id], [both.body.event_id, plain.body.event_id])
      assert.ok('enrichment' in first!.payload && !('enrichment' in second!.payload))
      assert.deepEqual((await receipts(both.body.event_id))[0].matched, [
        { kind: 'recipient', id: to.id },
        { kind: 'interest', id: made.body.id },
      ])
    })

    test('[RCP-2] the members of a channel receive what is posted to it, its sender does not', async () => {
      const [one, two, away] = [await tenant.agent(), await tenant.agent(), await tenant.agent()]
      const room = await channel('private', sender, [one, two, away])
      const adminId = JSON.parse(Buffer.from(tenant.admin.split('.')[1]!, 'base64url').toString()).sub
      await service.call(`POST /v1/channels/${room}/members`, {
        token: tenant.admin,
        body: { participant_type: 'org_admin', participant_id: adminId },
      })
      await setActive(away, 'deactivate')
      const sent = await publish(service, sender.token, { type: 'chat.said', recipient: room })
      assert.deepEqual([sent.status, sent.body.recipients], [202, 3])
      for (const token of [one.token, two.token, tenant.admin])
        assert.deepEqual(eventIds(await poll(service, token)), [sent.body.event_id])
      assert.deepEqual(await poll(service, sender.token), [])
      for (const { matched } of await receipts(sent.body.event_id))
        assert.deepEqual(matched, [{ kind: 'recipient', id: room }])
      await setActive(away, 'activate')
      assert.deepEqual(await poll(service, away.token), [], 'what came while it was inactive is not for it')
      // The sender receives it because of its own interest.
      await interest(service, sender, { event_type: 'chat.echo' })
      assert.equal((await publish(service, sender.token, { type: 'chat.echo', recipient: room })).body.recipients, 5)
      await ack(service, sender.token, ids(await poll(service, sender.token)))
    })

    test('[RCP-3] an event to a recipient that is unknown, inactive or not allowed is refused', async () => {
      const [stranger, sleeper] = [await tenant.agent(), await tenant.agent()]
      const elsewhere = await service.tenant()
      const foreign = await elsewhere.agent()
      const [hidden, open] = [await channel('private', stranger), await channel('open', stranger)]
      await setActive(sleeper, 'deactivate')
      const unknown = `agt_${'0'.repeat(26)}`
      const cases: [unknown, number, string, Record<string, unknown>][] = [
        [unknown, 404, 'not_found', { resource_type: 'agent', resource_id: unknown }],
        ['bob', 404, 'not_found', { resource_type: 'agent', resource_id: 'bob' }],
        ['', 404, 'not_found', { resource_type: 'agent', resource_id: '' }],
        ['a\u0000', 404, 'not_found', { resource_type: 'agent', resource_id: 'a\u0000' }],
        ['chn_no', 404, 'not_found', { resource_type: 'channel', resource_id: 'chn_no' }],
        [foreign.id, 404, 'not_found', { resource_type: 'agent', resource_id: foreign.id }],
        [hidden, 404, 'not_found', { resource_type: 'channel', resource_id: hidden }],
        [open, 422, 'business_rule_violation', { rule: 'not_a_member', channel_id: open }],
        [sleeper.id, 422, 'business_rule_violation', { rule: 'agent_inactive', agent_id: sleeper.id }],
        [7, 400, 'invalid_event', { field: 'recipient', value: 7 }],
        [{ id: sleeper.id }, 400, 'invalid_event', { field: 'recipient' }],
      ]
      for (const [recipient, status, code, details] of cases) {
        const body = event({ recipient })
        for (const path of ['POST /v1/events', 'POST /v1/events/explain']) {
          const sent = path.endsWith('explain') ? { event: body } : body
          const reply = await service.call(path, { token: sender.token, body: sent })
          const shown = `${path} ${JSON.stringify(recipient)} ${reply.text}`
          assert.deepEqual([reply.status, reply.body.error.code], [status, code], shown)
          for (const [name, value] of Object.entries(details))
            assert.equal(reply.body.error.details[name], value, shown)
        }
        const stored = await service.call(`GET /v1/events/${body['id']}`, { token: sender.token })
        assert.equal(stored.status, 404)
      }
      // An org-admin sees every channel of its tenant, and posts to those it is a member of.
      const admin = await publish(service, tenant.admin, { recipient: hidden })
      assert.equal(admin.body.error.details.rule, 'not_a_member')
      assert.equal((await publish(service, tenant.admin, { recipient: stranger.id })).status, 202)
      // null means that the attribute is not set.
      assert.equal((await publish(service, sender.token, { recipient: null })).status, 202)
    })

    test('[RCP-4] each event of a batch has its own recipient, and a header can name one', async () => {
      const to = await tenant.agent()
      const events = [event({ recipient: to.id }), event({ recipient: 'nobody' }), event(), event({ recipient: to.id })]
      const batch = await service.call('POST /v1/events', {
        token: sender.token,
        raw: JSON.stringify(events),
        headers: { 'content-type': 'application/cloudevents-batch+json' },
      })
      assert.equal(batch.status, 200)
      assert.deepEqual(
        batch.body.results.map(
          (result: { recipients?: number; error: { code: string } }) => result.recipients ?? result.error.code,
        ),
        [1, 'not_found', 0, 1],
      )
      const binary = await service.call('POST /v1/events', {
        token: sender.token,
        raw: '{}',
        headers: {
          'content-type': 'application/json',
          'ce-specversion': '1.0',
          'ce-type': 'a.b',
          'ce-source': '/s',
          'ce-id': 'by-header',
          'ce-recipient': to.id,
        },
      })
      assert.equal(binary.body.recipients, 1)
      assert.deepEqual(eventIds(await poll(service, to.token)), [events[0]!['id'], events[3]!['id'], 'by-header'])
    })

    test('[RCP-5] an event sent again after its recipient has become inactive is a duplicate', async () => {
      const to = await tenant.agent()
      const body = event({ recipient: to.id })
      const send = () => service.call('POST /v1/events', { token: sender.token, body })
      assert.equal((await send()).status, 202)
      await setActive(to, 'deactivate')
      const again = await send()
      assert.deepEqual([again.status, again.body.status], [200, 'duplicate'])
    })

    test('[RCP-6] explain says that the event is addressed, and to whom', async () => {
      const [member, other] = [await tenant.agent(), await tenant.agent()]
      const room = await channel('private', sender, [member])
      const explain = async (agent: TestAgent, recipient: string) => {
        const body = { agent_id: agent.id, event: event({ type: 'x.y', recipient }) }
        return (await service.call('POST /v1/events/explain', { token: sender.token, body })).body
      }
      const direct = await explain(member, member.id)
      assert.deepEqual(direct.recipients, [
        { agent_id: member.id, via: [{ kind: 'recipient', id: member.id }], priority: 0 },
      ])
      assert.equal(direct.agent.receives, true)
      assert.deepEqual(direct.agent.reasons[0].kind, 'recipient')
      const posted = await explain(member, room)
      assert.deepEqual(posted.recipients[0].via, [{ kind: 'recipient', id: room }])
      assert.match(posted.agent.reasons[0].explanation, /channel that the agent is a member of/)
      for (const [agent, recipient, why] of [
        [other, room, /not a member of/],
        [sender, room, /its sender/],
        [other, member.id, /another agent/],
      ] as const) {
        const { receives, reasons } = (await explain(agent, recipient)).agent
        assert.equal(receives, false)
        assert.match(reasons[0].explanation, why)
      }
    })

    test('[RCP-7] members that leave, join or are deactivated on another node count at once', async () => {
      const there = engine.name === 'postgres' ? await service.another() : service
      try {
        const [member, late] = [await tenant.agent(), await tenant.agent()]
        const room = await channel('open', sender, [member])
        const post = () => publish(there, sender.token, { type: 'a.b', recipient: room })
        assert.equal((await post()).body.recipients, 1)
        await join(room, late.id)
        assert.equal((await post()).body.recipients, 2)
        await setActive(member, 'deactivate')
        assert.equal((await post()).body.recipients, 1)
        const direct = await publish(there, sender.token, { recipient: member.id })
        assert.equal(direct.body.error.details.rule, 'agent_inactive')
        await setActive(member, 'activate')
        assert.equal((await publish(there, sender.token, { recipient: member.id })).status, 202)
        assert.equal((await publish(there, late.token, { recipient: room })).status, 202)
        await service.call(`DELETE /v1/channels/${room}/members/agent/${late.id}`, { token: late.token })
        const left = await publish(there, late.token, { recipient: room })
        assert.equal(left.body.error.details.rule, 'not_a_member')
      } finally {
        if (there !== service) await there.app.close()
      }
    })

    test('[RCP-10] an addressed dead letter is replayed to its recipient, with interests that match then', async () => {
      const to = await tenant.agent()
      const sent = await publish(service, sender.token, { type: 'late.news', recipient: to.id })
      const die = async () => {
        assert.equal((await poll(service, to.token)).length, 1)
        await service.clock.advance(31_000)
        assert.equal((await poll(service, to.token)).length, 0)
        const dead = await service.call('GET /v1/delivery/dlq', { token: to.token })
        assert.equal(dead.body.total, 1)
        const id = dead.body.dlq_items[0].id
        assert.equal((await service.call(`POST /v1/delivery/dlq/${id}/replay`, { token: to.token })).status, 200)
        return (await receipts(sent.body.event_id))[0].matched
      }
      assert.deepEqual(await die(), [{ kind: 'recipient', id: to.id }])
      const made = await interest(service, to, { event_type: 'late.*', priority: 3 })
      assert.deepEqual(await die(), [
        { kind: 'recipient', id: to.id },
        { kind: 'interest', id: made.body.id },
      ])
    })
  })
})
