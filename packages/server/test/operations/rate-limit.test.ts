// Sliding-window limits, as callers see them.
import assert from 'node:assert/strict'
import http from 'node:http'
import { afterEach, test } from 'node:test'
import { makeRateLimiter } from '../../src/limits/rate-limit.ts'
import type { Store } from '../../src/store/db.ts'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { AGENT, startService, type Reply, type Service, type TestTenant } from '../support/service.ts'

const WRONG_KEY = 'ak_live_aVeryUnlikelyKey0123456789abcdef'

/** `limit/remaining` as the headers have it. */
const shown = ({ headers }: Reply<unknown>): string =>
  `${headers.get('x-ratelimit-limit')}/${headers.get('x-ratelimit-remaining')}`

onBothEngines((engine) => {
  const running: Service[] = []
  // The newest first: a second node is stopped before the store that it shares.
  afterEach(async () => {
    for (const service of running.splice(0).reverse()) await service.stop()
  })

  async function start(agent: number | 'off', tenant: number | 'off', window = 6): Promise<Service> {
    const service = await startService(engine, {
      RATE_LIMIT_AGENT: `${agent}`,
      RATE_LIMIT_TENANT: `${tenant}`,
      RATE_LIMIT_WINDOW_S: `${window}`,
    })
    running.push(service)
    return service
  }

  /** A tenant whose exchange has left every window. */
  async function rested(service: Service): Promise<TestTenant> {
    const tenant = await service.tenant()
    await service.clock.advance(6_100)
    return tenant
  }

  const list = (service: Service, token: string) => service.call('GET /v1/agents?limit=1', { token })

  /** Sends requests until one is refused. Returns how many were allowed. */
  async function exhaust(service: Service, token: string): Promise<number> {
    for (let n = 0; ; n++) if ((await list(service, token)).status === 429) return n
  }

  test('[RATE-1] [RATE-3] [ERR-9] a request over the limit is 429, with how long to wait', async () => {
    const service = await start(5, 'off')
    const { admin } = await rested(service)
    for (let left = 4; left >= 0; left--) {
      const reply = await list(service, admin)
      assert.equal(reply.status, 200)
      assert.equal(shown(reply), `5/${left}`)
    }
    const refused = await list(service, admin)
    const details = assertError(refused, 'rate_limited', { limit: 5, window_seconds: 6 })
    const wait = details['retry_after_seconds'] as number
    assert.ok(Number.isInteger(wait) && wait >= 1 && wait <= 7)
    assert.equal(refused.headers.get('retry-after'), `${wait}`)
    assert.equal(refused.headers.get('x-ratelimit-reset'), `${wait}`)
    assert.equal(shown(refused), '5/0')
    // A caller that waits as told is allowed; a second less is not enough.
    await service.clock.advance((wait - 1) * 1000)
    assert.equal((await list(service, admin)).status, 429)
    await service.clock.advance(1000)
    assert.equal((await list(service, admin)).status, 200)
  })

  test('[RATE-2] every authenticated response shows the limit, refusals too; others do not', async () => {
    const service = await start(100, 'off')
    const { admin } = await rested(service)
    const json = { 'content-type': 'application/json' }
    const replies = [
      await service.call('POST /v1/agents', { token: admin, body: AGENT }),
      await service.call('POST /v1/agents', { token: admin, body: {} }),
      await service.call('GET /v1/agents/agt_nobody', { token: admin }),
      await service.call('POST /v1/agents', { token: admin, raw: 'x', headers: { 'content-type': 'text/plain' } }),
      await service.call('POST /v1/agents', { token: admin, raw: ' '.repeat(1_100_000), headers: json }),
    ]
    assert.deepEqual(
      replies.map((reply) => `${reply.status} ${shown(reply)}`),
      ['201 100/99', '400 100/98', '404 100/97', '415 100/96', '413 100/95'],
    )
    for (const { headers } of replies) assert.match(headers.get('x-ratelimit-reset') ?? '', /^[1-7]$/)
    for (const request of ['GET /v1/agents', 'GET /healthz', 'GET /v1/nothing']) {
      assert.equal(shown(await service.call(request)), 'null/null')
    }
    assert.equal(shown(await list(service, admin)), '100/94')
  })

  test('[RATE-1] the window slides: used requests come back as they age, not all at once', async () => {
    const service = await start(10, 'off')
    const { admin } = await rested(service)
    for (let i = 0; i < 4; i++) await list(service, admin)
    await service.clock.advance(3_000)
    assert.equal(await exhaust(service, admin), 6)
    await service.clock.advance(2_900)
    assert.equal(await exhaust(service, admin), 0)
    await service.clock.advance(200)
    assert.equal(await exhaust(service, admin), 4)
    await service.clock.advance(2_800)
    assert.equal(await exhaust(service, admin), 0)
    await service.clock.advance(200)
    assert.equal(await exhaust(service, admin), 6)
  })

  test('[RATE-4] refused requests do not use up the window', async () => {
    const service = await start(5, 'off')
    const { admin } = await rested(service)
    assert.equal(await exhaust(service, admin), 5)
    for (let tenth = 0; tenth < 60; tenth += 5) {
      for (let i = 0; i < 5; i++) assert.equal((await list(service, admin)).status, 429)
      await service.clock.advance(500)
    }
    await service.clock.advance(100)
    assert.equal(await exhaust(service, admin), 5)
  })

  test('[RATE-6] [RATE-2] the tenant sums its principals; the tighter limit is shown; an org-admin is limited like an agent', async () => {
    const service = await start(6, 10)
    const tenant = await service.tenant()
    const [agents, other] = [[await tenant.agent(), await tenant.agent()] as const, await service.tenant()]
    await service.clock.advance(6_100)
    const spent = []
    for (let i = 0; i < 5; i++) spent.push(shown(await list(service, agents[0].token)))
    assert.deepEqual(spent, ['6/5', '6/4', '6/3', '6/2', '6/1'])
    // The tenant has 4 of 10 left, and the second agent 5 of 6.
    assert.equal(shown(await list(service, agents[1].token)), '10/4')
    assert.equal(shown(await list(service, agents[0].token)), '6/0')
    assertError(await list(service, agents[0].token), 'rate_limited', { limit: 6 })
    for (let left = 2; left >= 0; left--) assert.equal(shown(await list(service, tenant.admin)), `10/${left}`)
    assertError(await list(service, tenant.admin), 'rate_limited', { limit: 10 })
    assertError(await list(service, agents[1].token), 'rate_limited', { limit: 10 })
    assert.equal(await exhaust(service, other.admin), 6)
  })

  test('[RATE-5] [CFG-5] a limit that is off neither refuses nor is shown', async () => {
    const without = await start('off', 'off')
    const { admin } = await rested(without)
    for (let i = 0; i < 100; i++) {
      const reply = await list(without, admin)
      assert.equal(reply.status, 200)
      for (const [name] of reply.headers) assert.equal(name.startsWith('x-ratelimit'), false)
    }
    const tenantOnly = await start('off', 3)
    const tenant = await rested(tenantOnly)
    assert.equal(shown(await list(tenantOnly, tenant.admin)), '3/2')
    assert.equal(await exhaust(tenantOnly, tenant.admin), 2)
  })

  test('[CFG-5] the window is as long as configured', async () => {
    const service = await start(2, 'off', 2)
    const { admin } = await rested(service)
    assert.equal(await exhaust(service, admin), 2)
    assertError(await list(service, admin), 'rate_limited', { window_seconds: 2 })
    await service.clock.advance(2_100)
    assert.equal(await exhaust(service, admin), 2)
  })

  test('[HTTP-4] the limit is checked after the token and before the scope', async () => {
    const service = await start(3, 'off')
    const tenant = await service.tenant()
    const agent = await tenant.agent({ scopes: ['send'] })
    await service.clock.advance(6_100)
    for (let i = 0; i < 10; i++) {
      assertError(await service.call('GET /v1/agents', { token: `${agent.token}x` }), 'authentication_failed')
    }
    for (let i = 0; i < 3; i++) {
      assertError(await service.call('POST /v1/agents', { token: agent.token, body: AGENT }), 'insufficient_scope')
    }
    assertError(await service.call('POST /v1/agents', { token: agent.token, body: AGENT }), 'rate_limited')
    assertError(await service.call('GET /v1/agents', { token: `${agent.token}x` }), 'authentication_failed')
  })

  test('[IDEM-7] a 429 is not kept for its Idempotency-Key', async () => {
    const service = await start(2, 'off')
    const { admin } = await rested(service)
    await exhaust(service, admin)
    const create = () =>
      service.call('POST /v1/agents', { token: admin, body: AGENT, headers: { 'idempotency-key': 'limited' } })
    assertError(await create(), 'rate_limited')
    await service.clock.advance(6_100)
    const made = await create()
    assert.equal(made.status, 201)
    const replay = await create()
    assert.equal(replay.headers.get('idempotent-replayed'), 'true')
    assert.equal(`${shown(made)} ${shown(replay)}`, '2/1 2/0')
  })

  test('[RATE-8] after 30 failed exchanges in a minute wrong keys are 429; successes do not count', async () => {
    const service = await start('off', 'off')
    const { adminKey } = await service.tenant()
    const exchange = (api_key: string) => service.call('POST /v1/auth/token', { body: { api_key } })
    for (let i = 0; i < 30; i++) {
      assert.equal((await exchange(adminKey)).status, 200)
      assertError(await exchange(WRONG_KEY), 'authentication_failed')
      await service.clock.advance(500)
    }
    const refused = await exchange(WRONG_KEY)
    const details = assertError(refused, 'rate_limited', { limit: 30, window_seconds: 60 })
    assert.equal(refused.headers.get('retry-after'), `${details['retry_after_seconds']}`)
    assert.equal((await exchange(adminKey)).status, 200)
    await service.clock.advance((details['retry_after_seconds'] as number) * 1000)
    assert.equal((await exchange(adminKey)).status, 200)
    assertError(await exchange(WRONG_KEY), 'authentication_failed')
  })

  test('[RATE-8] guesses sent concurrently are counted as well', async () => {
    const service = await start('off', 'off')
    const { adminKey } = await service.tenant()
    const guesses = await Promise.all(
      Array.from({ length: 60 }, () => service.call('POST /v1/auth/token', { body: { api_key: WRONG_KEY } })),
    )
    assert.deepEqual(Object.groupBy(guesses, ({ status }) => `${status}`)['401']?.length, 30)
    assert.deepEqual(Object.groupBy(guesses, ({ status }) => `${status}`)['429']?.length, 30)
    await service.clock.advance(61_000)
    const honest = await Promise.all(
      Array.from({ length: 60 }, () => service.call('POST /v1/auth/token', { body: { api_key: adminKey } })),
    )
    assert.deepEqual(new Set(honest.map(({ status }) => status)), new Set([200]))
  })

  test("[RATE-8] one address does not use up another's limit", {
    skip: process.platform === 'linux' ? false : 'needs 127.0.0.2',
  }, async () => {
    const service = await start('off', 'off')
    const { adminKey } = await service.tenant()
    const exchange = (key: string, localAddress: string) =>
      new Promise<number>((resolve, reject) => {
        const request = http.request(`${service.url}/v1/auth/token`, {
          method: 'POST',
          localAddress,
          headers: { 'content-type': 'application/json' },
        })
        request.on('response', (response) => resolve(response.resume().statusCode!)).on('error', reject)
        request.end(JSON.stringify({ api_key: key }))
      })
    for (let i = 0; i < 30; i++) assert.equal(await exchange(WRONG_KEY, '127.0.0.2'), 401)
    assert.equal(await exchange(WRONG_KEY, '127.0.0.2'), 429)
    assert.equal(await exchange(adminKey, '127.0.0.2'), 200)
    assert.equal(await exchange(adminKey, '127.0.0.1'), 200)
    assert.equal(await exchange(WRONG_KEY, '127.0.0.1'), 401)
  })

  test('[RATE-7] what is taken while counts are written counts, also if they could not be written', async () => {
    const { store, clock } = await start('off', 'off')
    let during = (): void => {}
    let isAway = false
    const tx: Store['tx'] = async (work, options) => {
      during()
      during = () => {}
      if (isAway) throw new Error('away')
      return store.tx(work, options)
    }
    const [one, other] = [makeRateLimiter(6, clock, { ...store, tx }), makeRateLimiter(6, clock, store)]
    const subject = [{ tenantId: 'ten_a', name: 'meanwhile', limit: 1000 }]
    const take = (n: number): void => {
      for (let i = 0; i < n; i++) void one.take(subject)
    }
    take(5)
    during = () => take(3)
    await one.sync()
    assert.equal(one.peek(subject).remaining, 992)
    isAway = true
    take(2)
    during = () => take(4)
    await assert.rejects(one.sync())
    assert.equal(one.peek(subject).remaining, 986)
    isAway = false
    await one.sync()
    void other.take(subject)
    await other.sync()
    assert.equal(other.peek(subject).remaining, 985)
  })

  if (engine.name === 'postgres') {
    test('[RATE-7] two nodes share one limit, within 10 %', async () => {
      const first = await start(100, 'off')
      const second = await first.another()
      running.push(second)
      const tenant = await first.tenant()
      const nodes = [first, second] as const
      const [steady, bursting] = [await tenant.agent(), await tenant.agent()]

      let through = 0
      for (let refused = 0; refused < 20; ) {
        const replies = [await list(first, steady.token), await list(second, steady.token)]
        refused = replies.every(({ status }) => status === 429) ? refused + 1 : 0
        through += replies.filter(({ status }) => status === 200).length
      }
      assert.ok(through >= 100 && through <= 110, `one after the other: ${through}`)

      const burst = await Promise.all(Array.from({ length: 300 }, (_, i) => list(nodes[i % 2]!, bursting.token)))
      const atOnce = burst.filter(({ status }) => status === 200).length
      assert.ok(atOnce >= 100 && atOnce <= 110, `all at once: ${atOnce}`)

      // The same without a network, which would spread a burst out.
      const limiters = nodes.map(({ store, clock }) => makeRateLimiter(6, clock, store))
      const subject = [{ tenantId: tenant.id, name: 'burst', limit: 100 }]
      const verdicts = await Promise.all(Array.from({ length: 400 }, (_, i) => limiters[i % 2]!.take(subject)))
      const taken = verdicts.filter(({ allowed }) => allowed).length
      assert.ok(taken >= 100 && taken <= 110, `in one turn: ${taken}`)

      await first.clock.advance(6_100)
      assert.equal((await list(second, bursting.token)).status, 200)
    })

    test('[RATE-7] sixteen nodes that are used alike share one limit, within 10 %', async () => {
      const { store, clock } = await start('off', 'off')
      let asked = 0
      const counted = { ...store, tx: ((work, options) => (asked++, store.tx(work, options))) as typeof store.tx }
      const limiters = Array.from({ length: 16 }, () => makeRateLimiter(6, clock, counted))
      const subject = [{ tenantId: 'ten_a', name: 'shared', limit: 1000 }]
      let taken = 0
      for (let refused = 0; refused < limiters.length; ) {
        refused = 0
        for (const limiter of limiters) (await limiter.take(subject)).allowed ? taken++ : refused++
      }
      assert.ok(taken >= 1000 && taken <= 1016, `${taken} requests with ${asked} transactions`)
      assert.ok(asked <= 250, `${asked} transactions`)
    })

    test('[RATE-7] [RATE-8] two nodes share the limit of failed exchanges', async () => {
      const first = await start('off', 'off')
      const second = await first.another()
      running.push(second)
      const statuses: number[] = []
      for (let i = 0; i < 25; i++) {
        for (const node of [first, second]) {
          statuses.push((await node.call('POST /v1/auth/token', { body: { api_key: WRONG_KEY } })).status)
        }
      }
      const failed = statuses.filter((status) => status === 401).length
      assert.ok(failed >= 30 && failed <= 33, `${failed}`)
    })
  }
})
