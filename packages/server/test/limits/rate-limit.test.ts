// The sliding window against a naive one that remembers every request.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { makeRateLimiter, type Subject, type Verdict } from '../../src/limits/rate-limit.ts'
import { fakeClock } from '../support/fake-clock.ts'
import type { Clock } from '../../src/kernel/clock.ts'

/** A clock that the test moves: nothing here sleeps. */
function handClock(): Clock & { turn(ms: number): void } {
  let now = Date.parse('2030-01-01T00:00:00Z')
  return {
    now: () => now,
    elapsed: () => now,
    sleep: async () => {},
    align() {},
    ahead: () => 0,
    catchUp() {},
    holdSteps() {},
    heldStep: () => 0,
    takeStep: () => 0,
    turn: (ms) => void (now += ms),
  }
}

const subject = (limit: number, name = 'agt_1', tenantId = 'ten_1'): Subject => ({ tenantId, name, limit })

// Requests come in bursts with pauses between them, from none to more than a window.
const history = fc.record({
  windowSeconds: fc.constantFrom(1, 7, 60, 3600),
  limit: fc.integer({ min: 1, max: 40 }),
  steps: fc.array(
    fc.record({ pause: fc.double({ min: 0, max: 1.5, noNaN: true }), burst: fc.integer({ min: 1, max: 25 }) }),
    { maxLength: 60 },
  ),
})

test('[RATE-1] no window, wherever it begins, holds more than the limit', () => {
  fc.assert(
    fc.property(history, ({ windowSeconds, limit, steps }) => {
      const clock = handClock()
      const limiter = makeRateLimiter(windowSeconds, clock, null)
      const allowed: number[] = []
      for (const { pause, burst } of steps) {
        clock.turn(Math.round(pause * pause * windowSeconds * 1000))
        for (let i = 0; i < burst; i++) {
          const verdict = limiter.take([subject(limit)]) as Verdict
          if (verdict.allowed) allowed.push(clock.now())
          // The naive reference: every request that was allowed in the last window.
          const within = allowed.filter((at) => at > clock.now() - windowSeconds * 1000).length
          assert.ok(within <= limit, `${within} of ${limit}`)
          assert.equal(verdict.limit, limit)
          assert.ok(
            verdict.remaining >= 0 && verdict.remaining <= limit - within,
            `${verdict.remaining} remain of ${limit}, ${within} used`,
          )
        }
      }
    }),
    { numRuns: 300 },
  )
})

test('[RATE-3] a caller that waits as told is allowed, and waits at most a window and a slice', () => {
  fc.assert(
    fc.property(history, ({ windowSeconds, limit, steps }) => {
      const clock = handClock()
      const limiter = makeRateLimiter(windowSeconds, clock, null)
      for (const { pause, burst } of steps) {
        clock.turn(Math.round(pause * pause * windowSeconds * 1000))
        for (let i = 0; i < burst; i++) {
          const verdict = limiter.take([subject(limit)]) as Verdict
          if (verdict.allowed) continue
          assert.ok(verdict.resetSeconds >= 1 && verdict.resetSeconds <= Math.ceil(windowSeconds * (61 / 60)) + 1)
          clock.turn(verdict.resetSeconds * 1000)
          assert.ok((limiter.take([subject(limit)]) as Verdict).allowed, `after ${verdict.resetSeconds} s`)
        }
      }
    }),
    { numRuns: 300 },
  )
})

test('[RATE-3] the wait is not padded: it exceeds the need by at most a slice and a second', () => {
  const clock = handClock()
  const limiter = makeRateLimiter(60, clock, null)
  for (let i = 0; i < 10; i++) limiter.take([subject(10)])
  clock.turn(20_000)
  const { allowed, resetSeconds } = limiter.take([subject(10)]) as Verdict
  assert.equal(allowed, false)
  assert.ok(resetSeconds >= 40 && resetSeconds <= 42, `${resetSeconds} s`)
})

test('[RATE-4] refused requests do not use up the window', () => {
  const clock = handClock()
  const limiter = makeRateLimiter(60, clock, null)
  for (let i = 0; i < 5; i++) assert.ok((limiter.take([subject(5)]) as Verdict).allowed)
  for (let i = 0; i < 60; i++) {
    clock.turn(1000)
    limiter.take([subject(5)])
  }
  clock.turn(1000)
  for (let i = 0; i < 5; i++)
    assert.ok((limiter.take([subject(5)]) as Verdict).allowed, `request ${i} after the window`)
})

test('[RATE-2] the tighter of two limits is the one shown, and a refusal of one takes nothing from the other', () => {
  const limiter = makeRateLimiter(60, handClock(), null)
  const agent = subject(3)
  const tenant = subject(100, 'tenant')
  assert.deepEqual(pick(limiter.take([agent, tenant])), { allowed: true, limit: 3, remaining: 2 })
  limiter.take([agent, tenant])
  limiter.take([agent, tenant])
  for (let i = 0; i < 50; i++)
    assert.deepEqual(pick(limiter.take([agent, tenant])), { allowed: false, limit: 3, remaining: 0 })
  assert.deepEqual(pick(limiter.peek([tenant])), { allowed: true, limit: 100, remaining: 97 })
  assert.deepEqual(pick(limiter.take([subject(3, 'agt_2'), tenant])), { allowed: true, limit: 3, remaining: 2 })
})

test('[RATE-6][ISO-6] the same name in another tenant is another window', () => {
  const limiter = makeRateLimiter(60, handClock(), null)
  limiter.take([subject(1, 'tenant', 'ten_1')])
  assert.equal((limiter.take([subject(1, 'tenant', 'ten_1')]) as Verdict).allowed, false)
  assert.equal((limiter.take([subject(1, 'tenant', 'ten_2')]) as Verdict).allowed, true)
})

test('[RATE-1] a clock that goes back does not empty the window', () => {
  const clock = handClock()
  const limiter = makeRateLimiter(60, clock, null)
  for (let i = 0; i < 3; i++) limiter.take([subject(3)])
  clock.turn(-30_000)
  assert.equal((limiter.take([subject(3)]) as Verdict).allowed, false)
})

test('[RATE-1] peek takes nothing', () => {
  const limiter = makeRateLimiter(60, handClock(), null)
  for (let i = 0; i < 10; i++) assert.equal(limiter.peek([subject(1)]).allowed, true)
  limiter.take([subject(1)])
  assert.equal(limiter.peek([subject(1)]).allowed, false)
})

test('[RATE-1] sync forgets windows of callers that have been gone for long, not their limits', async () => {
  const clock = fakeClock()
  const limiter = makeRateLimiter(1, clock, null)
  limiter.take([subject(1)])
  await limiter.sync()
  assert.equal((limiter.take([subject(1)]) as Verdict).allowed, false)
  await clock.advance(5000)
  await limiter.sync()
  assert.equal((limiter.take([subject(1)]) as Verdict).allowed, true)
})

const pick = (verdict: Verdict | Promise<Verdict>): Partial<Verdict> => {
  const { allowed, limit, remaining } = verdict as Verdict
  return { allowed, limit, remaining }
}

test('[OPS-22] setting the clock back an hour extends no limit, and the reported wait is right', async () => {
  const clock = fakeClock()
  const limiter = makeRateLimiter(60, clock, null)
  const one = [subject(3)]
  for (let i = 0; i < 3; i++) assert.equal((limiter.take(one) as Verdict).allowed, true)
  clock.set(-3_600_000)
  const refused = limiter.take(one) as Verdict
  assert.equal(refused.allowed, false)
  assert.ok(refused.resetSeconds >= 1 && refused.resetSeconds <= 61, `${refused.resetSeconds}`)
  await clock.advance(refused.resetSeconds * 1000)
  assert.equal((limiter.take(one) as Verdict).allowed, true)
})
