// A mailbox against a model of it: random sequences of publish, poll, acknowledge, give back, extend, let time pass and
// replay, run on the real stores through HTTP and on twenty lines of plain JavaScript. They must never differ.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { onBothEngines } from '../support/engines.ts'
import { startService, type Service, type TestAgent, type TestTenant } from '../support/service.ts'
import { ack, interest, poll, publish } from './tools.ts'

const LEASE_MS = 30_000
const MAX_ATTEMPTS = 3

interface Modelled {
  event: string
  priority: number
  order: number
  state: 'ready' | 'leased' | 'waiting' | 'acknowledged' | 'dead'
  attempts: number
  due: number
  id: string | null
}

class Model {
  now = 0
  all: Modelled[] = []

  lapse(): void {
    for (const d of this.all) {
      if ((d.state !== 'leased' && d.state !== 'waiting') || d.due > this.now) continue
      d.state = d.state === 'leased' && d.attempts >= MAX_ATTEMPTS ? 'dead' : 'ready'
    }
  }
  poll(limit: number): Modelled[] {
    this.lapse()
    const next = this.all
      .filter((d) => d.state === 'ready')
      .sort((a, b) => b.priority - a.priority || a.order - b.order)
      .slice(0, limit)
    for (const d of next) Object.assign(d, { state: 'leased', attempts: d.attempts + 1, due: this.now + LEASE_MS })
    return next
  }
  ack(which: Modelled[]): number {
    this.lapse()
    const open = which.filter((d) => ['ready', 'leased', 'waiting'].includes(d.state))
    for (const d of open) d.state = 'acknowledged'
    return open.length
  }
  nack(which: Modelled[], seconds: number, kill: boolean): number {
    this.lapse()
    const held = which.filter((d) => d.state === 'leased')
    for (const d of held) {
      if (kill || d.attempts >= MAX_ATTEMPTS) d.state = 'dead'
      else Object.assign(d, seconds > 0 ? { state: 'waiting', due: this.now + seconds * 1000 } : { state: 'ready' })
    }
    return held.length
  }
  extend(which: Modelled[], seconds: number): number {
    this.lapse()
    const held = which.filter((d) => d.state === 'leased')
    for (const d of held) d.due = this.now + seconds * 1000
    return held.length
  }
  replay(d: Modelled): boolean {
    this.lapse()
    if (d.state !== 'dead') return false
    Object.assign(d, { state: 'ready', attempts: 0 })
    return true
  }
}

type Step =
  | { do: 'publish'; high: boolean }
  | { do: 'poll'; limit: number }
  | { do: 'ack' | 'replay'; pick: number }
  | { do: 'nack'; pick: number; seconds: number; kill: boolean }
  | { do: 'extend'; pick: number; seconds: number }
  | { do: 'wait'; ms: number }

const pick = fc.nat(40)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('publish' as const), high: fc.boolean() }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('poll' as const), limit: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('ack' as const), pick }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('replay' as const), pick }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('nack' as const),
      pick,
      seconds: fc.constantFrom(0, 0, 10, 45),
      kill: fc.constantFrom(false, false, true),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('extend' as const), pick, seconds: fc.constantFrom(1, 30, 100) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, 10_000, 29_999, 30_000, 60_000) }),
  },
)

onBothEngines((engine) => {
  describe('the mailbox and its model', () => {
    let service: Service
    let tenant: TestTenant

    before(async () => {
      service = await startService(engine, {
        VISIBILITY_TIMEOUT_S: String(LEASE_MS / 1000),
        MAX_ATTEMPTS: String(MAX_ATTEMPTS),
      })
      tenant = await service.tenant()
    })
    after(() => service.stop())

    async function run(steps: Step[]): Promise<void> {
      const agent: TestAgent = await tenant.agent()
      await interest(service, agent, { event_type: `low.${agent.id}`, priority: 0 })
      await interest(service, agent, { event_type: `high.${agent.id}`, priority: 5 })
      const model = new Model()
      const start = service.clock.now()
      const seen = (): Modelled[] => model.all.filter((d) => d.id !== null)
      const token = await tenant.token(agent.key)
      const post = async (path: string, body: unknown) =>
        (await service.call(`POST /v1/delivery/${path}`, { token: await fresh(), body })).body
      // Tokens live an hour; a long sequence may outlive one.
      let current = { token, at: service.clock.now() }
      const fresh = async (): Promise<string> => {
        if (service.clock.now() - current.at > 3_000_000)
          current = { token: await tenant.token(agent.key), at: service.clock.now() }
        return current.token
      }

      for (const s of steps) {
        model.now = service.clock.now() - start
        const known = seen()
        const one = 'pick' in s && known.length > 0 ? [known[s.pick % known.length]!] : []
        if (s.do === 'publish') {
          const reply = await publish(service, await fresh(), { type: `${s.high ? 'high' : 'low'}.${agent.id}` })
          model.all.push({
            event: reply.body.event_id,
            priority: s.high ? 5 : 0,
            order: model.all.length,
            state: 'ready',
            attempts: 0,
            due: 0,
            id: null,
          })
        } else if (s.do === 'poll') {
          const expected = model.poll(s.limit)
          const handed = await poll(service, await fresh(), `limit=${s.limit}`)
          assert.deepEqual(
            handed.map((d) => [d.event_id, d.attempt_count]),
            expected.map((d) => [d.event, d.attempts]),
          )
          handed.forEach((d, i) => (expected[i]!.id = d.id))
        } else if (s.do === 'wait') await service.clock.advance(s.ms)
        else if (one.length === 0) continue
        else if (s.do === 'ack') assert.equal(await ack(service, await fresh(), [one[0]!.id!]), model.ack(one))
        else if (s.do === 'nack') {
          const body = { delivery_ids: [one[0]!.id], retry_after_seconds: s.seconds, dead_letter: s.kill }
          assert.deepEqual(await post('nack', body), { nacked: model.nack(one, s.seconds, s.kill) })
        } else if (s.do === 'extend')
          assert.deepEqual(await post('extend', { delivery_ids: [one[0]!.id], seconds: s.seconds }), {
            extended: model.extend(one, s.seconds),
          })
        else {
          const reply = await service.call(`POST /v1/delivery/dlq/${one[0]!.id}/replay`, { token: await fresh() })
          assert.equal(reply.status, model.replay(one[0]!) ? 200 : 404)
        }
      }
      model.now = service.clock.now() - start
      model.lapse()
      const dead = await service.call('GET /v1/delivery/dlq?limit=200', { token: await fresh() })
      assert.deepEqual(
        dead.body.dlq_items.map((d: { event_id: string }) => d.event_id).sort(),
        model.all
          .filter((d) => d.state === 'dead')
          .map((d) => d.event)
          .sort(),
      )
      const queue = (await service.call(`GET /v1/agents/${agent.id}/queue`, { token: await fresh() })).body
      assert.equal(queue.leased, model.all.filter((d) => d.state === 'leased').length)
      assert.equal(queue.pending, model.all.filter((d) => d.state === 'ready' || d.state === 'waiting').length)
    }

    test('[DLV-4] [DLV-5] [DLV-6] [DLV-9] [DLV-11] [DLV-13] [DLQ-3] no sequence of calls makes the mailbox differ from its model', async () => {
      await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), run), {
        numRuns: engine.name === 'sqlite' ? 60 : 25,
      })
    })
  })
})
