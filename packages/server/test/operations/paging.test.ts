// Lists: newest first, walked by offset and limit, counted in full.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { AGENT, OPERATOR_TOKEN, startService, type Service, type TestTenant } from '../support/service.ts'

const AGENTS = 205

interface Item {
  id: string
  created_at: string
}

onBothEngines((engine) => {
  let service: Service
  let tenant: TestTenant
  /** Newest first. */
  const made: string[] = []

  before(async () => {
    service = await startService(engine)
    tenant = await service.tenant()
    for (let i = 0; i < AGENTS; i++) {
      // Most share a millisecond with their neighbour, so that time alone cannot order them.
      if (i % 50 === 0) await service.clock.advance(1)
      const { body } = await service.call('POST /v1/agents', {
        token: tenant.admin,
        body: { ...AGENT, name: `Agent ${i}` },
      })
      made.unshift(body.id)
    }
  })
  after(() => service.stop())

  const page = async (query: string) =>
    (await service.call<{ agents: Item[]; total: number }>(`GET /v1/agents${query}`, { token: tenant.admin })).body
  const ids = (items: Item[]): string[] => items.map(({ id }) => id)

  test('[HTTP-16] [HTTP-17] a list begins with the newest, 50 at a time unless asked, and counts all', async () => {
    const first = await page('')
    assert.deepEqual(ids(first.agents), made.slice(0, 50))
    assert.equal(first.total, AGENTS)
    assert.deepEqual(await page('?offset=0&limit=50'), first)
  })

  test('[HTTP-17] limit takes 1 to 200, offset any position, also past the end', async () => {
    assert.deepEqual(ids((await page('?limit=1')).agents), made.slice(0, 1))
    assert.deepEqual(ids((await page('?limit=200')).agents), made.slice(0, 200))
    assert.deepEqual(ids((await page('?offset=200&limit=200')).agents), made.slice(200))
    assert.deepEqual(await page(`?offset=${AGENTS}`), { agents: [], total: AGENTS })
    assert.deepEqual(await page('?offset=1000000000'), { agents: [], total: AGENTS })
  })

  test('[HTTP-16] walking a list in any steps neither repeats nor skips', async () => {
    const step = fc.integer({ min: 20, max: 200 })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 11, maxLength: 11 }), async (steps) => {
        const walked: string[] = []
        for (const limit of steps) walked.push(...ids((await page(`?offset=${walked.length}&limit=${limit}`)).agents))
        assert.deepEqual(walked, made)
      }),
      { numRuns: 10 },
    )
  })

  test('[HTTP-22] ids sort by the time of creation, and so do the lists', async () => {
    const { agents } = await page('?limit=200')
    for (const [newer, older] of agents.slice(1).map((item, i) => [agents[i]!, item] as const)) {
      assert.ok(newer.id > older.id)
      assert.ok(newer.created_at >= older.created_at)
      assert.match(newer.id, /^agt_[0-9a-hjkmnp-tv-z]{26}$/)
    }
  })

  test('[HTTP-17] [AGT-5] a filter shortens the list and its total', async () => {
    const asleep = [made[3]!, made[120]!, made[204]!]
    for (const id of asleep) {
      assert.equal((await service.call(`POST /v1/agents/${id}/deactivate`, { token: tenant.admin })).status, 200)
    }
    const inactive = await page('?status=inactive')
    assert.deepEqual(ids(inactive.agents), asleep)
    assert.equal(inactive.total, 3)
    assert.deepEqual(await page('?status=inactive&offset=1&limit=1'), { agents: [inactive.agents[1]], total: 3 })
    const active = await page('?status=active&offset=200')
    assert.equal(active.total, AGENTS - 3)
    assert.deepEqual(ids(active.agents), made.filter((id) => !asleep.includes(id)).slice(200))
    for (const id of asleep) await service.call(`POST /v1/agents/${id}/activate`, { token: tenant.admin })
    assert.deepEqual(ids((await page('?limit=200')).agents), made.slice(0, 200))
  })

  test('[HTTP-18] a number out of range or no whole number is refused, never clamped', async () => {
    const wrong = [
      'limit=0',
      'limit=-1',
      'limit=201',
      'limit=2.0',
      'limit=1e1',
      'limit=0x10',
      'limit=',
      'limit=%20',
      'limit=null',
      'limit=99999999999999999999',
    ]
    for (const query of [...wrong, 'offset=-1', 'offset=0.5', 'offset=', 'offset=abc', 'offset=99999999999999999999']) {
      for (const [path, token] of [
        ['/v1/agents', tenant.admin],
        ['/operator/tenants', OPERATOR_TOKEN],
      ] as const) {
        assertError(await service.call(`GET ${path}?${query}`, { token }), 'validation_failed', {
          field: query.split('=')[0],
        })
      }
    }
  })

  test('[HTTP-16] [TEN-3] the tenants of the operator and the keys of an agent come newest first too', async () => {
    const slugs = []
    for (let i = 0; i < 5; i++) slugs.unshift((await service.tenant()).slug)
    const { body } = await service.call('GET /operator/tenants?limit=5', { token: OPERATOR_TOKEN })
    assert.deepEqual(
      body.tenants.map(({ slug }: { slug: string }) => slug),
      slugs,
    )
    assert.equal(body.total, 6)
    const rest = await service.call('GET /operator/tenants?offset=5&limit=5', { token: OPERATOR_TOKEN })
    assert.deepEqual(
      rest.body.tenants.map(({ slug }: { slug: string }) => slug),
      [tenant.slug],
    )

    const keys = []
    for (let i = 0; i < 5; i++) {
      keys.unshift(
        (await service.call(`POST /v1/agents/${made[0]}/keys`, { token: tenant.admin, body: { scopes: ['send'] } }))
          .body.id,
      )
    }
    const listed = await service.call(`GET /v1/agents/${made[0]}/keys`, { token: tenant.admin })
    assert.deepEqual(ids(listed.body.keys), keys)
  })
})
