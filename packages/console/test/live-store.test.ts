// The one stream of a tab, from a service that stops counting without closing it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient } from '@sensorium/client'
import { makeLiveStore, type LiveStore } from '../src/api/live-store.ts'

const STATS = { at: '2030-01-31T12:00:00Z', seconds: 1, events: 0, deliveries: 0, acknowledgements: 0, failures: 0 }
const MESSAGE = `event: stats\ndata: ${JSON.stringify({ ...STATS, backlog: 51, oldest_waiting_seconds: 3, left_out: 0 })}\n\n`

/** A service whose one stream sends what the test says. */
function standIn(): { store: LiveStore; send(text: string): void; signals: AbortSignal[] } {
  const signals: AbortSignal[] = []
  let send = (_text: string): void => {}
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      send = (text) => controller.enqueue(new TextEncoder().encode(text))
    },
  })
  const fetched = async (_: unknown, { signal }: RequestInit = {}): Promise<Response> => {
    signals.push(signal!)
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  }
  const client = createClient({ url: 'http://localhost', token: 't', fetch: fetched })
  return { store: makeLiveStore(client, (error) => assert.fail(String(error))), send, signals }
}

test('[UI-71] a stream that is open and counts nothing is shown as reconnecting, and its last counts as unknown', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { store, send } = standIn()
  let changed = Promise.withResolvers<void>()
  const leave = store.subscribe(() => changed.resolve())
  const after = async (act: () => void): Promise<unknown[]> => {
    changed = Promise.withResolvers()
    act()
    await changed.promise
    return [store.view().state, store.view().isCounted]
  }
  assert.deepEqual(await after(() => send(MESSAGE)), ['open', true])
  t.mock.timers.tick(4_000)
  assert.deepEqual(await after(() => send(MESSAGE)), ['open', true])
  t.mock.timers.tick(4_999)
  assert.equal(store.view().state, 'open')
  send(': still here\n\n')
  assert.deepEqual(await after(() => t.mock.timers.tick(1)), ['away', false])
  assert.deepEqual(await after(() => send(MESSAGE)), ['open', true])
  leave()
  t.mock.timers.tick(2_000)
})

test('[UI-71] the stream is shared, and ends two seconds after the last component that shows it has gone', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { store, signals } = standIn()
  const nextTurn = (): Promise<void> => new Promise(setImmediate)
  const [leaveFirst, leaveSecond] = [store.subscribe(() => {}), store.subscribe(() => {})]
  await nextTurn()
  store.filter({})
  leaveFirst()
  t.mock.timers.tick(2_000)
  await nextTurn()
  assert.deepEqual(
    signals.map(({ aborted }) => aborted),
    [false],
  )
  leaveSecond()
  t.mock.timers.tick(1_999)
  const leaveThird = store.subscribe(() => {})
  t.mock.timers.tick(1)
  assert.deepEqual([signals.length, signals[0]!.aborted], [1, false], 'from one page to the next')
  leaveThird()
  t.mock.timers.tick(2_000)
  assert.equal(signals[0]!.aborted, true)
})
