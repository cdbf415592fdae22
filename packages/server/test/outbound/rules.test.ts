// The pure rules: what a response means, when the breaker opens, which endpoint gets a slot.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { afterFailedPush } from '../../src/delivery/rules.ts'
import { allowance, closed, failed, OPENS_AFTER, stateOf, succeeded, type Breaker } from '../../src/outbound/breaker.ts'
import { applyOutcome, blockedFor, newEndpoint, wantedBy } from '../../src/outbound/endpoint.ts'
import { makeHeldLeases } from '../../src/outbound/held-leases.ts'
import { outcomeOf, retryAfterMs } from '../../src/outbound/outcome.ts'
import { makeSlots, REPUTATIONS, type Reputation } from '../../src/outbound/slots.ts'
import { deliveryEvent } from '../../src/outbound/write-deliveries.ts'
import { parseEvent } from './tools.ts'

const NOW = Date.parse('2030-01-01T00:00:00Z')

test('[PUSH-7] [PUSH-8] [PUSH-9] [PUSH-10] what a status means', () => {
  const kind = (status: number, retryAfter?: string): string => outcomeOf({ status, retryAfter }, NOW).kind
  assert.deepEqual(
    [200, 202, 299].map((status) => kind(status)),
    ['acknowledged', 'acknowledged', 'acknowledged'],
  )
  assert.deepEqual(
    [100, 301, 304, 400, 401, 404, 500, 503, 429].map((status) => kind(status)),
    Array(9).fill('failed'),
  )
  assert.equal(kind(410), 'gone')
  assert.deepEqual(
    [kind(429, '5'), kind(503, '5'), kind(500, '5'), kind(429, 'soon'), kind(429, '0')],
    ['later', 'later', 'failed', 'failed', 'failed'],
  )
})

test('[PUSH-8] Retry-After in seconds and in the three forms of a date, bounded', () => {
  assert.equal(retryAfterMs('120', NOW), 120_000)
  assert.equal(retryAfterMs('Tue, 01 Jan 2030 00:00:30 GMT', NOW), 30_000)
  assert.equal(retryAfterMs('Tuesday, 01-Jan-30 00:00:30 GMT', NOW), 30_000)
  assert.equal(retryAfterMs('Tue Jan  1 00:00:30 2030', NOW), 30_000)
  assert.equal(retryAfterMs('Tue Jan 01 00:00:30 2030', NOW), 30_000)
  for (const long of ['999999999', '99999999999', '0'.repeat(20) + '99999', '9'.repeat(400)])
    assert.equal(retryAfterMs(long, NOW), 86_400_000, long)
  assert.equal(retryAfterMs('Sunday, 01-Jan-80 00:00:00 GMT', NOW), 86_400_000, 'fifty years ahead')
  const past = ['Tue, 01 Jan 2019 00:00:30 GMT', 'Tuesday, 01-Jan-81 00:00:30 GMT', 'Tue Jan  1 00:00:30 2019']
  for (const nothing of [undefined, '', '-1', '1.5', 'never', 'Tue Jan  1 00:00:30', '2030-01-01', ...past])
    assert.equal(retryAfterMs(nothing, NOW), null, nothing)
})

const policy = { visibilityTimeoutMs: 30_000, maxAttempts: 5, pushRetryS: [5, 60, 600, 3600] }

test('[POL-6] [PUSH-8] [PUSH-10] [PUSH-11] waits follow the schedule, the last one repeats, the last attempt is final', () => {
  const wait = (attempts: number, random: number, retryAfterMs: number | null = null): number => {
    const next = afterFailedPush(
      { attempts, first_attempt_at: NOW, last_error: null },
      { error: 'HTTP 503', retryAfterMs },
      NOW,
      { ...policy, maxAttempts: 1000 },
      () => random,
    )
    return next.state === 'waiting' ? next.dueAt - NOW : -1
  }
  assert.deepEqual(
    [1, 2, 3, 4, 5, 50].map((attempts) => wait(attempts, 0.5)),
    [5_000, 60_000, 600_000, 3_600_000, 3_600_000, 3_600_000],
  )
  assert.deepEqual(
    [0, 1].map((random) => wait(2, random)),
    [48_000, 72_000],
    'a fifth either way',
  )
  assert.deepEqual(
    [0, 1_000, 90_000].map((retryAfterMs) => wait(2, 0.5, retryAfterMs)),
    [60_000, 60_000, 90_000],
    'a Retry-After only lengthens it',
  )
  const dead = afterFailedPush(
    { attempts: 5, first_attempt_at: NOW - 9_000, last_error: 'HTTP 500' },
    { error: 'HTTP 404', retryAfterMs: 9 },
    NOW,
    policy,
  )
  assert.deepEqual(dead, {
    state: 'dead_lettered',
    reason: 'Push failed after 5 attempts over 9 s; last error: HTTP 404',
  })
})

test('[POL-8] the breaker opens, lets one delivery through a minute, and closes', () => {
  let breaker: Breaker = closed
  for (let i = 1; i < OPENS_AFTER; i++) breaker = failed(breaker, NOW)
  assert.deepEqual([stateOf(breaker, NOW), allowance(breaker, NOW, 16)], ['closed', 16])
  breaker = failed(breaker, NOW)
  assert.deepEqual([stateOf(breaker, NOW), allowance(breaker, NOW + 59_999, 16)], ['open', 0])
  assert.equal(failed(breaker, NOW + 100).pausedUntil, breaker.pausedUntil)
  assert.deepEqual([stateOf(breaker, NOW + 60_000), allowance(breaker, NOW + 60_000, 16)], ['half_open', 1])
  assert.equal(failed(breaker, NOW + 61_000).pausedUntil, NOW + 121_000)
  assert.deepEqual(succeeded(breaker, NOW + 59_999), breaker, 'a success that was under way when it opened')
  assert.deepEqual(succeeded(breaker, NOW + 60_000), closed)
})

test('[PUSH-8] an endpoint that asks for time gets half as many requests at once, and rests for an hour at most', () => {
  const url = 'https://example.com/'
  const endpoint = { ...newEndpoint({ tenantId: 'ten_1', recipientId: 'agt_1' }, url), due: true }
  const respond = (status: number, retryAfter?: string): void => {
    const result = { status, retryAfter }
    applyOutcome(endpoint.history, url, result, outcomeOf(result, NOW), 1, { now: NOW, elapsed: 0 })
  }
  for (let i = 1; i < 8; i++) respond(200)
  assert.equal(wantedBy(endpoint, 0), 8)
  respond(429, '7200')
  assert.deepEqual([wantedBy(endpoint, 0), blockedFor(endpoint, 0)], [0, 3_600_000])
  assert.equal(wantedBy(endpoint, 3_600_000), 4)
})

test('[SSE-3] a lease is held until the store no longer has it, and one that was claimed again stays', () => {
  const leases = makeHeldLeases()
  const old = { id: 'a', lease: 1 }
  const again = { id: 'a', lease: 2, until: NOW + 1 }
  const other = { id: 'b', lease: 1, until: NOW }
  leases.add([again, other])
  leases.refresh([old, other], new Map([['b', { id: 'b', leases: 1, due_at: NOW + 1 }]]))
  // The list has the ends that the leases were claimed with.
  assert.deepEqual([leases.list(), leases.lapsesAt()], [[again, other], NOW + 1])
  leases.refresh([other], new Map())
  assert.deepEqual(leases.list(), [again])
  assert.deepEqual([leases.givenBack([old]), leases.givenBack([again])], [false, true])
  leases.add([again, other])
  leases.refresh([other], new Map([['b', { id: 'b', leases: 2, due_at: NOW + 1 }]]))
  assert.deepEqual(leases.list(), [again], 'somebody else has claimed the other one')
  assert.deepEqual([leases.settled(['a', 'unknown']), leases.settled(['a'])], [true, false])
})

const MB = 1_000_000
const PLENTY = 1_000_000 * MB

test('slots: tenants and endpoints take turns, suspect and new endpoints leave room, a tenant has at most half', () => {
  const slots = makeSlots<string>(16, PLENTY)
  const all = (wanted = 1): string[] => {
    const granted: string[] = []
    for (const reputation of REPUTATIONS) {
      for (let grant = slots.grant(reputation, () => wanted); grant; grant = slots.grant(reputation, () => wanted))
        granted.push(`${grant.endpoint}×${grant.count}`)
    }
    return granted
  }
  for (let i = 0; i < 20; i++) slots.line('a', 'suspect', `s${i}`)
  assert.deepEqual(all(), ['s0×1', 's1×1']) // a quarter of a tenant's half
  for (let i = 0; i < 20; i++) slots.line('a', 'new', `n${i}`)
  assert.deepEqual(all(), ['n0×1', 'n1×1', 'n2×1', 'n3×1'])
  slots.line('a', 'proven', 'p')
  assert.deepEqual(all(5), ['p×2'])
  for (const endpoint of ['x', 'y']) slots.line('b', 'proven', endpoint)
  slots.line('c', 'proven', 'z')
  assert.deepEqual(all(), ['x×1', 'z×1', 'y×1'])
  assert.equal(slots.held(), 11)
  slots.line('a', 'proven', 'p')
  assert.deepEqual(all(), [])
  slots.release({ endpoint: 's0', tenant: 'a', reputation: 'suspect', count: 1, characters: MB }, 1, MB)
  assert.deepEqual(all().length, 1)
})

test('[FAIR-4] slots: memory has the same shares, reserved until the bodies are known', () => {
  const slots = makeSlots<string>(4_096, 16 * MB)
  const next = (reputation: Reputation, tenant: string) => {
    slots.line(tenant, reputation, tenant)
    return slots.grant(reputation, () => 100)
  }
  // A tenant has half of everything: a quarter of it for suspects, half for new endpoints, the rest for proven ones.
  const suspect = next('suspect', 'a')!
  assert.deepEqual([suspect.count, suspect.characters], [2, 2 * MB])
  assert.equal(next('suspect', 'a'), undefined)
  const fresh = next('new', 'a')!
  assert.equal(fresh.count, 4)
  // Short bodies make room again. A long one takes more than was reserved for it.
  slots.release(suspect, 0, suspect.characters - 200)
  assert.equal(next('suspect', 'a')!.count, 1)
  slots.release(fresh, 3, fresh.characters - 3 * MB)
  assert.equal(next('new', 'a')!.count, 1)
  // Two tenants, half each, fill the memory; a third waits for one of them.
  assert.deepEqual([next('proven', 'b')!.count, next('proven', 'a')!.count], [8, 2])
  assert.equal(next('proven', 'a'), undefined)
  assert.equal(next('proven', 'c'), undefined)
  slots.release(fresh, 1, 3 * MB)
  assert.equal(slots.grant('proven', () => 100)!.count, 3)
})

test('[SSE-1] a delivery is one event whatever white space its JSON has', () => {
  const json = '{\r\n"payload": {\n\n"text": "a\\nb"}\r}'
  const event = parseEvent(deliveryEvent({ id: 'dlv_1', json }).slice(0, -2))
  assert.deepEqual(
    [event.event, event.id, JSON.parse(event.data!)],
    ['delivery', 'dlv_1', { payload: { text: 'a\nb' } }],
  )
})
