// A broker that does not keep to the protocol, over a real socket.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { amqp } from '../../src/ingest/connectors/amqp.ts'
import type { RunningConnector } from '../../src/ingest/connectors/connector.ts'
import { compileMapping, DEFAULT_MAPPING } from '../../src/ingest/mapping.ts'
import { composite, DETACH, FALSE, frame, NULL, string, symbol, TRUE, uint } from '../support/amqp-bytes.ts'
import { fakeClock, type FakeClock } from '../support/fake-clock.ts'
import { startHostileBroker, type Attack, type HostileBroker } from '../support/hostile-broker.ts'
import { turnsUntil } from '../support/turns-until.ts'

interface Attacked {
  broker: HostileBroker
  connector: RunningConnector
  clock: FakeClock
}

async function attack(t: TestContext, how: Attack): Promise<Attacked> {
  const broker = await startHostileBroker(how)
  const clock = fakeClock()
  const connector = amqp.start(
    {
      tenantId: 'ten_1',
      id: 'con_1',
      source: 'erp',
      url: broker.url,
      address: 'q',
      credit: 3,
      tlsCa: null,
      mapper: compileMapping('erp', DEFAULT_MAPPING),
    },
    { publish: () => assert.fail('nothing can be stored'), clock, maxEventBytes: 10_000, count: () => {} },
  )
  t.after(async () => {
    await connector.stop()
    await broker.close()
  })
  return { broker, connector, clock }
}

const detach = (...error: Buffer[]): Buffer => frame(composite(DETACH, uint(0), TRUE, composite(0x1d, ...error)))

for (const [what, error, said] of [
  ['a description that is no text', [symbol('amqp:x'), uint(5)], 'amqp:x'],
  ['a condition that is no text', [uint(5), string('gone')], 'gone'],
  ['nothing that is text', [FALSE, NULL], 'the connection was closed'],
  ['NUL characters', [symbol('amqp:\0x'), string('\0a\0')], 'amqp:x: a'],
] as [string, Buffer[], string][])
  test(`[AMQP-10] an error with ${what} becomes the state of the connector`, { timeout: 60_000 }, async (t) => {
    const { connector } = await attack(t, { attached: (socket) => socket.write(detach(...error)) })
    await turnsUntil(() => connector.state() === 'reconnecting')
    assert.equal(connector.lastError(), said)
  })
