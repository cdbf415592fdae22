// What waits to be published when its client disconnects is not published, unless it is a webhook that was verified.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hmac, operatorCalls } from '../ingest/tools.ts'
import { onBothEngines } from '../support/engines.ts'
import { inFlight } from '../support/in-flight.ts'
import { rawConnection } from '../support/raw-http.ts'
import { serviceForSuite, type Service } from '../support/service.ts'
import { turnsUntil } from '../support/turns-until.ts'

/**
 * Keeps publishes waiting: on SQLite the one writer is held, on PostgreSQL every lane waits for a lock. `publish` is
 * called for each lane. Returns a function that ends it.
 */
async function holdPublishes({ store }: Service, publish: () => Promise<unknown>): Promise<() => Promise<void>> {
  const free = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  const holding = store.tx(async (tx) => {
    // Readers go on; whoever wants to insert waits.
    if (store.isShared) await tx.rows('lock table events in share mode')
    held.resolve()
    await free.promise
  })
  await held.promise
  const waiting =
    "select 1 as one from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
  const published: Promise<unknown>[] = []
  for (let lane = 1; lane <= store.writers; lane++) {
    published.push(publish())
    await turnsUntil(async () => !store.isShared || (await store.rows(waiting)).length >= lane)
  }
  return async () => {
    free.resolve()
    await Promise.all([holding, ...published])
  }
}

onBothEngines((engine) => {
  const service = serviceForSuite(engine)

  /**
   * Checks whether `request` is published if its client leaves while it waits. One that stays sends it again, and its
   * response tells.
   */
  async function assertGivenUp(
    tenantId: string,
    request: string,
    token: string,
    type: string,
    isGivenUp = true,
  ): Promise<void> {
    const { store, url, call } = service
    const published = async (): Promise<number> =>
      (await store.rows('select id from events where tenant_id = ? and type = ?', [tenantId, type])).length
    let n = 0
    const publish = () =>
      call('POST /v1/events', {
        token,
        body: { specversion: '1.0', type: 'lane', source: '/lane', id: `${type} ${n++}`, data: null },
      })
    const release = await holdPublishes(service, publish)
    const inHand = await inFlight(url)
    const [gone, there] = [await rawConnection(url), await rawConnection(url)]
    gone.write(request)
    await turnsUntil(async () => (await inFlight(url)) === inHand + 1)
    gone.socket.destroy()
    await turnsUntil(async () => (await inFlight(url)) === inHand)
    there.write(request)
    await turnsUntil(async () => (await inFlight(url)) === inHand + 1)
    await release()
    assert.equal((await there.reply()).status, isGivenUp ? 202 : 200)
    // It would have gone with that one, or with the next.
    assert.equal((await publish()).status, 202)
    there.socket.destroy()
    assert.equal(await published(), 1)
  }

  const post = (path: string, body: string, ...lines: string[]): string =>
    [
      `POST ${path} HTTP/1.1`,
      'Host: x',
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      ...lines,
      '',
      body,
    ].join('\r\n')

  for (const door of ['ingest_url', 'own_url'] as const)
    test(`[RTE-14] [HOOK-3] a signed webhook is published all the same, at its ${door}`, async () => {
      const tenant = await service.tenant()
      const { token } = await tenant.agent()
      const made = await operatorCalls(service).webhook({ tenant: tenant.slug, source: 'shop' })
      const path = `/ingest/w/${tenant.slug}${door === 'own_url' ? `/${made.webhook.id}` : ''}`
      // The same body has the same id: if the first were stored, the second would be a duplicate.
      const body = JSON.stringify({ entity: 'order', action: 'created' })
      const request = post(path, body, `X-Service-Signature: ${hmac(made.signing_secret, body)}`)
      await assertGivenUp(tenant.id, request, token, 'com.shop.order.created', false)
    })

  test('[RTE-14] a test event', async () => {
    const tenant = await service.tenant()
    const { id, token } = await tenant.agent()
    const request = post(`/v1/agents/${id}/test-event`, '{}', `Authorization: Bearer ${tenant.admin}`)
    await assertGivenUp(tenant.id, request, token, 'test.dashboard')
  })

  test('[RTE-14] an event', async () => {
    const tenant = await service.tenant()
    const { token } = await tenant.agent()
    const body = { specversion: '1.0', type: 'made', source: '/s', data: null }
    const gone = post('/v1/events', JSON.stringify({ ...body, id: 'a' }), `Authorization: Bearer ${token}`)
    await assertGivenUp(tenant.id, gone, token, 'made')
  })
})
