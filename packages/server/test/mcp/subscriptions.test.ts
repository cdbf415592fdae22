// Subscriptions of MCP clients: how many, and how long they last.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unauthenticated, unavailable } from '../../src/kernel/failure.ts'
import { makeSubscriptions, MAX_SUBSCRIPTIONS_OF_ONE } from '../../src/mcp/subscriptions.ts'
import { fakeClock } from '../support/fake-clock.ts'

test('[MCP-11] a subscription that is closed twice makes room for one', () => {
  const subscriptions = makeSubscriptions(fakeClock())
  const open = () => subscriptions.open('agt_1', async () => {})
  const [first, ...others] = Array.from({ length: MAX_SUBSCRIPTIONS_OF_ONE }, open)
  assert.throws(open, { code: 'rate_limited' })
  first!.close()
  first!.close()
  others.push(open())
  assert.throws(open, { code: 'rate_limited' })
  for (const subscription of others) subscription.close()
})

test('[MCP-11] a subscription ends when its credential is refused, not while it cannot be checked', async () => {
  const clock = fakeClock()
  const subscriptions = makeSubscriptions(clock)
  let error: Error = new Error('the connection to the store was lost')
  const { signal, close } = subscriptions.open('agt_1', () => Promise.reject(error))
  await clock.advance(500)
  error = unavailable('The store is unavailable')
  await clock.advance(500)
  assert.equal(signal.aborted, false)
  error = unauthenticated()
  await clock.advance(500)
  assert.equal(signal.aborted, true)
  close()
  await clock.advance(500)
})

test('[MCP-11] a credential whose check takes long is checked once at a time', async () => {
  const clock = fakeClock()
  const checks: PromiseWithResolvers<void>[] = []
  const { close } = makeSubscriptions(clock).open(
    'agt_1',
    () => checks[checks.push(Promise.withResolvers()) - 1]!.promise,
  )
  await clock.advance(2_000)
  assert.equal(checks.length, 1)
  checks[0]!.resolve()
  await clock.advance(500)
  assert.equal(checks.length, 2)
  close()
  await clock.advance(500)
})
