// While the store is away a provider is told to retry, and what it then sends again is stored once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { layWireTo } from '../../support/cut-wire.ts'
import { POSTGRES_URL, postgres, type Engine } from '../../support/engines.ts'
import { assertError } from '../../support/expect.ts'
import { startService } from '../../support/service.ts'
import { operatorCalls, poster } from '../tools.ts'

const skip = POSTGRES_URL ? false : 'PostgreSQL is missing'

test('[HOOK-1] [HOOK-3] 503 with Retry-After while the store is away, for good and bad signatures alike; then accepted', {
  skip,
}, async (t) => {
  const fresh = await postgres.fresh()
  const { wire, url } = await layWireTo(fresh.env['DATABASE_URL']!)
  const engine: Engine = {
    name: 'postgres',
    fresh: async () => ({ ...fresh, env: { ...fresh.env, DATABASE_URL: url } }),
  }
  const service = await startService(engine)
  t.after(async () => {
    await service.stop()
    await wire.cut()
  })
  const tenant = await service.tenant()
  const { signing_secret } = await operatorCalls(service).webhook({ tenant: tenant.slug, source: 'shop' })
  const post = poster(service)
  await wire.cut()
  for (const [slug, secret] of [
    [tenant.slug, signing_secret],
    [tenant.slug, 'whsec_wrong'],
    ['no-such-tenant', signing_secret],
  ] as const) {
    const reply = await post(slug, secret, { entity: 'order', action: 'created', id: 1 })
    assertError(reply, 'service_unavailable')
    assert.ok(Number(reply.headers.get('retry-after')) > 0)
  }
  await wire.mend()
  assert.equal((await post(tenant.slug, signing_secret, { entity: 'order', action: 'created', id: 1 })).status, 202)
  assert.equal((await post(tenant.slug, signing_secret, { entity: 'order', action: 'created', id: 1 })).status, 200)
})
