// Standard Webhooks, as their own library signs them.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { Webhook as Signer } from 'standardwebhooks'
import { onBothEngines } from '../../support/engines.ts'
import { assertError } from '../../support/expect.ts'
import { serviceForSuite, tenantForSuite } from '../../support/service.ts'
import { listener, operatorCalls, poster, type MadeWebhook } from '../tools.ts'

const SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'
const BODY = { type: 'invoice.line.paid', timestamp: '2030-01-31T12:00:00Z', data: { id: 'inv_1', total: 40 } }

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)
  const calls = operatorCalls(service)
  let agent: Awaited<ReturnType<typeof listener>>
  let made: MadeWebhook
  before(async () => {
    agent = await listener(service, tenant)
    made = await calls.webhook({ tenant: tenant.slug, preset: 'standard', source: 'shop', signing_secret: SECRET })
  })

  interface Sent {
    id?: string
    body?: unknown
    secret?: string
    secondsAgo?: number
    /** `svix` for the names of Svix. */
    name?: string
    headers?: Record<string, string>
  }
  function send({ id = 'msg_1', body = BODY, secret = SECRET, secondsAgo = 0, name = 'webhook', headers }: Sent) {
    const raw = typeof body === 'string' ? body : JSON.stringify(body)
    const time = new Date(service.clock.now() - secondsAgo * 1_000)
    const signed = {
      [`${name}-id`]: id,
      [`${name}-timestamp`]: String(Math.floor(time.getTime() / 1_000)),
      [`${name}-signature`]: new Signer(secret).sign(id, time, raw),
    }
    return service.call(`POST /ingest/w/${tenant.slug}`, {
      raw,
      headers: { 'content-type': 'application/json', ...signed, ...headers },
    })
  }

  test('[ING-16] what the library signs is an event, once, with the id of the message', async () => {
    const reply = await send({})
    assert.deepEqual([reply.status, reply.body.event_id], [202, 'shop:msg_1'])
    assert.equal((await send({ secondsAgo: 200 })).status, 200)
    const [{ payload } = assert.fail()] = await agent.poll()
    assert.deepEqual(
      [payload['type'], payload['subject'], payload['data'], payload['original']],
      ['com.shop.invoice_line.paid', 'invoice.line/inv_1', BODY.data, BODY],
    )
  })

  test('[ING-16] the names of Svix, a type without a dot, and a body without data or id', async () => {
    const body = { type: 'ping', hello: 1 }
    const reply = await send({ id: 'msg_2', name: 'svix', body })
    assert.deepEqual([reply.status, reply.body.event_id], [202, 'shop:msg_2'])
    const [{ payload } = assert.fail()] = await agent.poll()
    assert.deepEqual(
      [payload['type'], payload['subject'], payload['data']],
      ['com.shop.ping.received', undefined, body],
    )
  })

  test('[ING-16] a copy of what Svix signed is no other event with an id that is not signed', async () => {
    const copied = { id: 'msg_copied', name: 'svix' }
    assert.equal((await send(copied)).status, 202)
    assertError(await send({ ...copied, headers: { 'webhook-id': 'msg_another' } }), 'authentication_failed')
    assert.equal((await send(copied)).status, 200)
    await agent.poll()
  })

  test('[ING-16] a signature covers id, time and body, and holds for five minutes', async () => {
    for (const wrong of [
      { secret: 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' },
      { secondsAgo: 301 },
      { secondsAgo: -301 },
      { headers: { 'webhook-id': 'msg_other' } },
      { headers: { 'webhook-timestamp': String(Math.floor(service.clock.now() / 1_000) - 1) } },
      { headers: { 'webhook-timestamp': 'now' } },
      { headers: { 'webhook-id': '' } },
      { headers: { 'webhook-signature': '' } },
      { headers: { 'webhook-signature': 'v1,AAAA' } },
      {
        headers: {
          'webhook-signature':
            'v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg==',
        },
      },
    ])
      assertError(await send({ id: 'msg_3', ...wrong }), 'authentication_failed')
    // While a provider rotates its secret it signs with both.
    const raw = JSON.stringify(BODY)
    const time = new Date(service.clock.now())
    const second = `v1,${'A'.repeat(43)}= ${new Signer(SECRET).sign('msg_3', time, raw)}`
    assert.equal((await send({ id: 'msg_3', headers: { 'webhook-signature': second } })).status, 202)
    await agent.poll()
  })

  test('[ING-16] other webhooks take no such signature, and this one takes ours', async () => {
    const other = await service.tenant()
    const { signing_secret } = await calls.webhook({ tenant: other.slug, source: 'shop' })
    const raw = JSON.stringify(BODY)
    const time = new Date(service.clock.now())
    const headers = {
      'content-type': 'application/json',
      'webhook-id': 'msg_4',
      'webhook-timestamp': String(Math.floor(time.getTime() / 1_000)),
      'webhook-signature': new Signer(signing_secret).sign('msg_4', time, raw),
    }
    assertError(await service.call(`POST /ingest/w/${other.slug}`, { raw, headers }), 'authentication_failed')
    assert.equal((await poster(service)(tenant.slug, SECRET, BODY, { 'webhook-id': 'msg_5' })).status, 202)
    await agent.poll()
  })

  test('[ING-16] the source is named, and a secret that encodes no key is refused, on rotation too', async () => {
    const create = (body: object) =>
      calls.operator('POST /operator/webhooks', { tenant: tenant.slug, preset: 'standard', source: 'crm', ...body })
    assertError(await create({ source: undefined }), 'validation_failed', { field: 'source' })
    for (const signing_secret of ['whsec_!!!!!!!!!!!!!!!!', 'whsec_C2FVsBQIhrs', '________________________=x'])
      assertError(await create({ signing_secret }), 'validation_failed', { field: 'signing_secret', value: null })
    const rotate = (signing_secret?: string) =>
      calls.operator(`POST /operator/webhooks/${made.webhook.id}/rotate`, { signing_secret })
    assertError(await rotate('whsec_!!!!!!!!!!!!!!!!'), 'validation_failed', { field: 'signing_secret' })
    const { signing_secret: fresh } = (await rotate()).body
    assert.equal((await send({ id: 'msg_6', secret: fresh })).status, 202)
    assert.equal((await send({ id: 'msg_7' })).status, 202, 'the replaced one stays valid for a day')
  })
})
