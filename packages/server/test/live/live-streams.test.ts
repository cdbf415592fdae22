// Live streams with readers that keep up, fall behind and come at once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LiveStats } from '@sensorium/contract'
import { makeActivity } from '../../src/activity/activity.ts'
import type { Principal } from '../../src/auth/principal.ts'
import type { SummaryRow } from '../../src/events/summaries.ts'
import { makeLogger } from '../../src/kernel/logger.ts'
import { choose, FILTER_STEPS, makeChoice } from '../../src/live/choose.ts'
import { makeLiveStreams, MAX_LIVE_OF_ONE } from '../../src/live/live-streams.ts'
import { newestSince } from '../../src/live/sql.ts'
import { watchTenant } from '../../src/live/watch-tenant.ts'
import { outboundCalls, until } from '../outbound/tools.ts'
import { onBothEngines } from '../support/engines.ts'
import { startService } from '../support/service.ts'
import { watched } from '../support/watched-store.ts'

onBothEngines((engine) => {
  async function start(t: { after(fn: () => unknown): void }) {
    const service = await startService(engine)
    t.after(() => service.stop())
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    const { clock } = service
    // The clock waits for these streams too.
    const { store, isBusy } = watched(service.store)
    t.after(clock.restWith(isBusy))
    const tools = { store, clock, activity: makeActivity(store, clock) }
    const anybody = { tenantId: tenant.id } as Principal
    const identify = Object.assign(async () => anybody, {
      cached: () => anybody,
      claimed: () => anybody,
      stands: async () => true,
    })
    const live = makeLiveStreams({ ...tools, identify, log: makeLogger('silent') })
    t.after(() => live.close())
    return { service, tenant, agent, tools, live, watch: () => live.watch(anybody, makeChoice(undefined, undefined)) }
  }

  test('[CON-5] of streams that are opened at the same time no more than 16 are open', async (t) => {
    const { live, watch } = await start(t)
    const sink = { write: () => true, end() {}, destroy() {} }
    const opened = []
    for (let i = 0; i <= MAX_LIVE_OF_ONE; i++) opened.push(await watch())
    const last = opened.pop()!
    const streams = opened.map((open) => open(sink, 'token'))
    assert.throws(() => last(sink, 'token'), { code: 'rate_limited' })
    assert.equal(live.count(), MAX_LIVE_OF_ONE)
    streams[0]!.gone()
    last(sink, 'token')
    assert.equal(live.count(), MAX_LIVE_OF_ONE)
  })

  test('[CON-4] events that come while a reader is behind are left out, and counted once when it has caught up', async (t) => {
    const { service, agent, watch } = await start(t)
    const calls = outboundCalls(service)
    const seconds: string[] = []
    let keepsUp = false
    const sink = { write: (text: string) => (seconds.push(text), keepsUp), end() {}, destroy() {} }
    const stream = (await watch())(sink, 'token')
    const leftOut = (): number =>
      (JSON.parse(/event: stats\ndata: (.*)/.exec(seconds.at(-1)!)![1]!) as LiveStats).left_out
    const second = async (): Promise<void> => {
      await service.clock.advance(1_000)
    }
    await second()
    await until(() => seconds.length === 1)
    for (const type of ['a', 'b', 'c']) await calls.publish(agent, `com.example.${type}`)
    await second()
    assert.equal(seconds.length, 1, 'nothing is written to a reader that is behind')
    stream.drained()
    keepsUp = true
    await second()
    await until(() => seconds.length === 2)
    assert.deepEqual([leftOut(), seconds[1]!.includes('event: event')], [3, false])
    await second()
    await until(() => seconds.length === 3)
    assert.equal(leftOut(), 0)
  })

  test('[CON-4] a filter reads 1,500,000 bytes of events in a second, the newest first', async (t) => {
    const { service, tenant, agent, tools } = await start(t)
    const calls = outboundCalls(service)
    for (const type of ['a', 'b', 'c']) await calls.publish(agent, `com.example.${type}`)
    const { envelopes } = await watchTenant(tools, tenant.id)
    const events = (await newestSince(service.store, tenant.id, 0, 10)).map((event) => ({ ...event, bytes: 750_000 }))
    const envelopeOf = await envelopes(events)
    assert.deepEqual(
      events.map((event) => envelopeOf(event)?.['type']),
      ['com.example.c', 'com.example.b', undefined],
    )
  })
})

test('[CON-4] events that a filter could not examine are left out', async () => {
  const events = ['new', 'unread', 'old'].map((id) => ({ id, type: 't' }) as SummaryRow)
  const envelopeOf = ({ id }: SummaryRow) => (id === 'unread' ? undefined : { data: { id } })
  const choice = makeChoice(undefined, 'data.id == "new"')
  assert.deepEqual(await choose(choice, events, envelopeOf, FILTER_STEPS), { events: [events[0]], leftOut: 1 })
  assert.deepEqual(await choose(choice, events, envelopeOf, 0), { events: [], leftOut: 3 })
})
