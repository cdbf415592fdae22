// What a connector keeps of its connections once they have ended.
import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { runLink } from '../../../src/ingest/connectors/amqp-link.ts'
import { makeConnectorProgress } from '../../../src/ingest/connectors/progress.ts'
import { compileMapping, DEFAULT_MAPPING } from '../../../src/ingest/mapping.ts'
import { startPeer } from '../../support/amqp-broker.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { turnsUntil } from '../../support/turns-until.ts'

function startLink(url: string, stopping: AbortSignal, opened: () => void): Promise<unknown> {
  const settings = { tenantId: 'ten_1', id: 'con_1', source: 'erp', url, address: 'q', credit: 1, tlsCa: null }
  return runLink(
    { ...settings, mapper: compileMapping('erp', DEFAULT_MAPPING) },
    {
      publish: () => Promise.reject(new Error('no message was sent')),
      clock: fakeClock(),
      maxEventBytes: 10_000,
      count: () => {},
      progress: makeConnectorProgress(() => {}),
      stopping,
      store: { failures: 0 },
      opened,
    },
  )
}

test('[AMQP-6] a connector keeps nothing of connections that ended, and a stop ends the one it has', async (t) => {
  const stopping = new AbortController()
  const listeners = (): number => getEventListeners(stopping.signal, 'abort').length
  const hangingUp = createServer((socket) => socket.destroy())
  t.after(() => hangingUp.close())
  await new Promise<void>((resolve) => hangingUp.listen(0, '127.0.0.1', resolve))
  const { port } = hangingUp.address() as AddressInfo
  for (let i = 0; i < 3; i++)
    assert.ok((await startLink(`amqp://127.0.0.1:${port}`, stopping.signal, () => {})) instanceof Error)
  assert.equal(listeners(), 0)

  const peer = await startPeer()
  t.after(() => peer.close())
  const open = Promise.withResolvers<void>()
  const ended = startLink(peer.url, stopping.signal, open.resolve)
  await open.promise
  assert.equal(listeners(), 1)
  stopping.abort()
  assert.equal(await ended, undefined)
  await turnsUntil(() => peer.receivers() === 0)
})
