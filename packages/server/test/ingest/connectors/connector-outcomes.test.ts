// Outcomes that a broker gets for messages that are settled in the same turn, over a real socket.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Publish } from '../../../src/events/publish.ts'
import { amqp } from '../../../src/ingest/connectors/amqp.ts'
import { compileMapping, DEFAULT_MAPPING } from '../../../src/ingest/mapping.ts'
import { publishMessage } from '../../../src/ingest/connectors/publish-message.ts'
import { rateLimited, ruleBroken, unavailable } from '../../../src/kernel/failure.ts'
import { StoreUnavailable } from '../../../src/store/db.ts'
import { startPeer } from '../../support/amqp-broker.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { turnsUntil } from '../../support/turns-until.ts'

const OUTCOMES = ['accepted', 'released', 'rejected'] as const
type Fate = (typeof OUTCOMES)[number]

/** A publish that decides each message's outcome, all in the turn in which the last message has come. */
function decidedTogether(fates: readonly Fate[]): Publish {
  const together = Promise.withResolvers<void>()
  let come = 0
  return async () => {
    const fate = fates[come++]
    if (come === fates.length) together.resolve()
    await together.promise
    if (fate === 'released') throw new StoreUnavailable('the store is away')
    if (fate === 'rejected') throw ruleBroken('reserved_event_id', 'It belongs to another source', {})
    return [{ status: 'accepted', id: 'e', recipients: 0 }] as unknown as Awaited<ReturnType<Publish>>
  }
}

const three = OUTCOMES.flatMap((one) => OUTCOMES.flatMap((two) => OUTCOMES.map((last): Fate[] => [one, two, last])))
for (const fates of three) {
  test(`[AMQP-2] each message gets its own outcome: ${fates.join(', ')}`, { timeout: 60_000 }, async (t) => {
    const peer = await startPeer()
    t.after(() => peer.close())
    peer.offer(fates.map((_, id) => ({ entity: 'order', action: 'made', id })))
    const connector = amqp.start(
      {
        tenantId: 'ten_1',
        id: 'con_1',
        source: 'erp',
        url: peer.url,
        address: 'q',
        credit: fates.length,
        tlsCa: null,
        mapper: compileMapping('erp', DEFAULT_MAPPING),
      },
      { publish: decidedTogether(fates), clock: fakeClock(), maxEventBytes: 10_000, count: () => {} },
    )
    await turnsUntil(() => peer.outcomes().length >= fates.length)
    const told = new Map(peer.outcomes().map(({ body, outcome }) => [(body as { id: number }).id, outcome]))
    assert.deepEqual(
      fates.map((_, id) => told.get(id)),
      fates,
    )
    await connector.stop()
    await turnsUntil(() => peer.receivers() === 0)
  })
}

test('[AMQP-2] [AMQP-3] what there is no room for now comes again, and what is refused for good does not', async () => {
  const target = { tenantId: 'ten_1', connectorId: 'con_1', source: 'erp' }
  const event = compileMapping('erp', DEFAULT_MAPPING).map({ body: {}, raw: Buffer.from('{}'), headers: {}, now: 0 })
  let prepared = event.next()
  while (!prepared.done) prepared = event.next()
  const { value } = prepared
  for (const [failure, kind] of [
    [ruleBroken('quota_exceeded', 'The quota of the tenant is used up'), 'retry'],
    [rateLimited(1, 1, 1), 'retry'],
    [unavailable('The node is busy'), 'retry'],
    [ruleBroken('reserved_event_id', 'It belongs to another source'), 'invalid'],
  ] as const) {
    const publishes = [
      () => Promise.reject(failure),
      async () => [{ status: 'refused', failure }],
    ] as unknown as Publish[]
    for (const publish of publishes)
      assert.equal((await publishMessage({ ...target, publish }, async () => value)).kind, kind, failure.message)
  }
})
