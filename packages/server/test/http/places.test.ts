// How many requests each caller may have in hand, tested at the limits.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makePlaces, type Place } from '../../src/http/places.ts'
import type { Failure } from '../../src/kernel/failure.ts'
import { NOBODY } from '../../src/operations/call.ts'

const of = (tenantId: string, id: string) => ({ ...NOBODY, tenantId, id })

/** Takes places until one is refused. Returns the places and the refusal. */
function fill(take: () => Place, most = 20_000): { places: Place[]; refusal: Failure } {
  const places: Place[] = []
  for (;;) {
    try {
      places.push(take())
      assert.ok(places.length < most)
    } catch (error) {
      return { places, refusal: error as Failure }
    }
  }
}

test('[SAFE-3] an agent has 1,000 places, its tenant 5,000, and those of other tenants stay free', () => {
  const places = makePlaces()
  const taken: Place[] = []
  for (let agent = 0; agent < 5; agent++) {
    const { places: own, refusal } = fill(() => places.ofPrincipal(null, of('loud', `agent-${agent}`)))
    assert.equal(own.length, 1_000)
    assert.deepEqual(
      [refusal.code, refusal.details['limit'], refusal.details['window_seconds']],
      ['rate_limited', 1_000, 0],
    )
    taken.push(...own)
  }
  const sixth = fill(() => places.ofPrincipal(null, of('loud', 'agent-6')))
  assert.deepEqual([sixth.places.length, sixth.refusal.details['limit']], [0, 5_000])
  assert.equal(fill(() => places.ofPrincipal(null, of('quiet', 'agent'))).places.length, 1_000)
  // A place that is given back is free for the next caller, and only once.
  places.giveBack(taken.pop()!)
  assert.equal(fill(() => places.ofPrincipal(null, of('loud', 'agent-6'))).places.length, 1)
})

test('[SAFE-3] an address has 512 places, and a caller that is identified gives its place back', () => {
  const places = makePlaces()
  const { places: strangers, refusal } = fill(() => places.ofAddress('203.0.113.9'))
  assert.deepEqual([strangers.length, refusal.details['limit']], [512, 512])
  assert.equal(fill(() => places.ofAddress('203.0.113.10')).places.length, 512)
  places.ofPrincipal(strangers[0]!, of('t', 'a'))
  assert.equal(fill(() => places.ofAddress('203.0.113.9')).places.length, 1)
  // Even if the agent has no place left, the place of the address is free again.
  fill(() => places.ofPrincipal(null, of('t', 'a')))
  assert.throws(() => places.ofPrincipal(strangers[1]!, of('t', 'a')))
  assert.equal(fill(() => places.ofAddress('203.0.113.9')).places.length, 1)
})

test('[SAFE-3] [SAFE-4] the node has 10,000 places, and beyond them health is still answered', () => {
  const places = makePlaces()
  for (const tenant of ['a', 'b'])
    for (let agent = 0; agent < 5; agent++) fill(() => places.ofPrincipal(null, of(tenant, `agent-${agent}`)))
  const { places: more, refusal } = fill(() => places.ofPrincipal(null, of('c', 'agent')))
  assert.deepEqual([more.length, refusal.code], [0, 'service_unavailable'])
  const health = fill(() => places.ofHealth('203.0.113.9'))
  assert.deepEqual([health.places.length, health.refusal.details['limit']], [64, 64])
  assert.equal(places.ofHealth('203.0.113.10').length, 2)
})

test('[SAFE-3] however many addresses come, those that have requests in hand keep their shares', () => {
  const places = makePlaces()
  const { places: own } = fill(() => places.ofAddress('203.0.113.9'))
  for (let i = 0; i <= 50_000; i++) places.giveBack(places.ofAddress(`address-${i}`))
  assert.throws(() => places.ofAddress('203.0.113.9'), { code: 'rate_limited' })
  places.giveBack(own.pop()!)
  assert.equal(fill(() => places.ofAddress('203.0.113.9')).places.length, 1)
})

/** Takes places for each address in turn until all are refused. Returns how many that were. */
function fillInTurn(take: (address: string) => Place, addresses: readonly string[]): number {
  let taken = 0
  for (let before = -1; before !== taken; ) {
    before = taken
    for (const address of addresses) {
      try {
        take(address)
        taken++
      } catch (error) {
        assert.equal((error as Failure).code, 'service_unavailable')
      }
    }
  }
  return taken
}

test('[SAFE-3] strangers have a third of the node together, and known callers find the rest', () => {
  const places = makePlaces()
  const addresses = Array.from({ length: 4_000 }, (_, i) => `10.0.${i >> 8}.${i & 255}`)
  assert.equal(fillInTurn(places.ofAddress, addresses), 3_333)
  let known = 0
  for (const tenant of ['a', 'b'])
    for (let agent = 0; agent < 5; agent++)
      known += fill(() => places.ofPrincipal(null, of(tenant, `agent-${agent}`))).places.length
  assert.equal(known, 6_667)
})

test('[SAFE-3] [SAFE-4] of twenty addresses that take what they can each gets as much as the next finds', () => {
  for (const kind of ['ofAddress', 'ofHealth'] as const) {
    const take = makePlaces()[kind]
    const addresses = Array.from({ length: 20 }, (_, i) => `203.0.113.${i}`)
    const each = fillInTurn(take, addresses) / 20
    const { places, refusal } = fill(() => take('198.51.100.7'))
    assert.ok(places.length >= Math.floor(each / 2), `${places.length} of ${each}`)
    assert.equal(refusal.code, 'service_unavailable')
  }
})

test('[SAFE-3] what an address took before others came is theirs once it is given back', () => {
  const places = makePlaces()
  const first = Array.from({ length: 20 }, (_, i) => fill(() => places.ofAddress(`203.0.113.${i}`)).places)
  assert.throws(() => places.ofAddress('198.51.100.7'), { code: 'service_unavailable' })
  // Each of them asks again for every place that it gives back.
  for (const [i, held] of first.entries())
    for (const place of held) {
      places.giveBack(place)
      try {
        places.ofAddress(`203.0.113.${i}`)
      } catch {}
    }
  assert.ok(fill(() => places.ofAddress('198.51.100.7')).places.length > 50)
})

test('[SAFE-3] all IPv6 networks of a /48 have no more than one address may have', () => {
  const places = makePlaces()
  let taken = 0
  for (let i = 0; i < 4_000; i++) taken += fill(() => places.ofAddress(`2001:db8:7:${i.toString(16)}::1`)).places.length
  assert.equal(taken, 1_667)
  assert.equal(fill(() => places.ofAddress('2001:db8:8::1')).places.length, 512)
  assert.equal(fill(() => places.ofAddress('203.0.113.9')).places.length, 512)
})
