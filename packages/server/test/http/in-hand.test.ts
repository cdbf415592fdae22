// Places of requests whose caller is identified only after they are over.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Exchange } from '../../src/http/exchange.ts'
import { makeInHand, type InHandTools } from '../../src/http/in-hand.ts'
import { NOBODY } from '../../src/operations/call.ts'

const tools = {
  identify: Object.assign(async () => null, { cached: () => null, claimed: () => null }),
  clientAddress: () => '192.0.2.1',
  log: { request() {} },
  metrics: { request() {} },
} as unknown as InHandTools

const arrived = (): Exchange =>
  ({ path: '/v1/agents', bearer: 'a token', isCounted: true, place: null, room: null, principal: null }) as Exchange

test('[SAFE-1] a socket that closes while its caller is identified gives its place back exactly once', () => {
  const inHand = makeInHand(tools)
  const agent = { ...NOBODY, tenantId: 'ten_1', id: 'agt_1' }
  const known = (exchange: Exchange): void => {
    exchange.principal = agent
    inHand.identified(exchange)
  }
  for (let i = 0; i < 2_000; i++) {
    const gone = arrived()
    inHand.take(gone)
    inHand.leave(gone, 499)
    known(gone)
  }
  assert.equal(inHand.count(), 0)
  // All places of the agent are free.
  for (let i = 0; i < 1_000; i++) {
    const exchange = arrived()
    inHand.take(exchange)
    known(exchange)
  }
  // So are all places of the address, and no more than those.
  for (let i = 0; i < 512; i++) inHand.take(arrived())
  assert.throws(() => inHand.take(arrived()), { code: 'rate_limited' })
})
