// Webhooks and connectors by the command line, which does the same as the operator's HTTP API, beside the service.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { onBothEngines } from '../support/engines.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { command } from '../support/process.ts'
import { startService, type Service, type TestTenant } from '../support/service.ts'
import { operatorCalls, poster } from './tools.ts'

const URL = 'amqp://user:hunter2-and-more@127.0.0.1:1'

onBothEngines((engine) => {
  let service: Service
  let tenant: TestTenant
  let calls: ReturnType<typeof operatorCalls>
  before(async () => {
    // The command line uses the machine's clock.
    service = await startService(engine, {}, fakeClock(Date.now()))
    calls = operatorCalls(service)
    tenant = await service.tenant()
  })
  after(() => service.stop())

  const env = () => ({ ...service.env, PUBLIC_URL: service.url })
  const run = (...args: string[]) => command(args, env())
  const json = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(...args, '--json')
    assert.equal(stderr, '')
    return { code, body: JSON.parse(stdout) }
  }

  test('[OPS-9] webhook create, list, rotate and delete act on the running service', async () => {
    const post = poster(service)
    const { code, body } = await json(
      'webhook',
      'create',
      '--tenant',
      tenant.slug,
      '--source',
      'shop',
      '--id',
      'body.key',
    )
    assert.equal(code, 0)
    assert.deepEqual(Object.keys(body).sort(), ['signing_secret', 'url', 'webhook'])
    assert.equal((await post(tenant.slug, body.signing_secret, { key: 'k' })).body.event_id, 'shop:k')
    const list = await json('webhook', 'list', '--tenant', tenant.slug)
    assert.deepEqual(list.body, (await calls.operator(`GET /operator/webhooks?tenant=${tenant.slug}`)).body)
    assert.deepEqual(list.body.webhooks, [body.webhook])
    const rotated = await json('webhook', 'rotate', body.webhook.id)
    assert.deepEqual(Object.keys(rotated.body).sort(), ['signing_secret', 'webhook'])
    for (const secret of [body.signing_secret, rotated.body.signing_secret])
      assert.equal((await post(tenant.slug, secret, { key: 'k' })).status, 200)
    assert.equal((await run('webhook', 'delete', body.webhook.id)).code, 0)
    assert.equal((await post(tenant.slug, rotated.body.signing_secret, { key: 'k' })).status, 401)
    assert.equal((await json('webhook', 'delete', body.webhook.id)).body.error.code, 'not_found')
  })

  test('[OPS-9] --preset names the source; without --json the secret is printed once', async () => {
    const { code, stdout } = await run('webhook', 'create', '--tenant', tenant.slug, '--preset', 'github')
    assert.equal(code, 0)
    assert.match(stdout, /github posts to .*\/ingest\/w\/.*\n.*whsec_[A-Za-z0-9]{32}\n$/)
    assert.match(
      (await run('webhook', 'list')).stdout,
      /^id +tenant +source +preset +own url +created\n(whk_\w+) .*\/ingest\/w\/[\w-]+\/\1 /,
    )
  })

  test('[OPS-9] connector create, list, pause, resume and delete', async () => {
    const { code, body } = await json(
      'connector',
      'create',
      '--tenant',
      tenant.slug,
      '--source',
      'erp',
      '--url',
      URL,
      '--address',
      'q',
      '--credit',
      '7',
    )
    assert.equal(code, 0)
    assert.partialDeepStrictEqual(body.connector, { credit: 7, url: 'amqp://***@127.0.0.1:1', state: 'starting' })
    const { id } = body.connector
    assert.equal((await json('connector', 'pause', id)).body.connector.state, 'paused')
    const list = await json('connector', 'list', '--tenant', tenant.slug)
    assert.deepEqual(list.body, (await calls.operator(`GET /operator/connectors?tenant=${tenant.slug}`)).body)
    assert.notEqual((await json('connector', 'resume', id)).body.connector.state, 'paused')
    assert.match((await run('connector', 'list')).stdout, /^id +tenant +source +address +state/)
    assert.equal((await run('connector', 'delete', id)).code, 0)
    assert.equal((await json('connector', 'list', '--tenant', tenant.slug)).body.total, 0)
  })

  test('[OPS-9] [OPS-7] what HTTP refuses is refused too, and no password is repeated', async () => {
    const refused: [string[], string, object][] = [
      [
        ['webhook', 'create', '--tenant', tenant.slug, '--source', 'x', '--data', 'body.'],
        'webhooks',
        { tenant: tenant.slug, source: 'x', mapping: { data: 'body.' } },
      ],
      [
        [
          'connector',
          'create',
          '--tenant',
          tenant.slug,
          '--source',
          'x',
          '--url',
          URL.replace('amqp', 'http'),
          '--address',
          'q',
        ],
        'connectors',
        { tenant: tenant.slug, source: 'x', url: URL.replace('amqp', 'http'), address: 'q' },
      ],
      [
        ['connector', 'create', '--tenant', 'nobody', '--source', 'x', '--url', URL, '--address', 'q', '--credit', 'x'],
        'connectors',
        { tenant: 'nobody', source: 'x', url: URL, address: 'q', credit: 'x' },
      ],
    ]
    for (const [args, path, body] of refused) {
      const given = await json(...args)
      assert.equal(given.code, 1)
      const answer = await calls.operator(`POST /operator/${path}`, body)
      assert.deepEqual({ ...given.body.error, request_id: '' }, { ...answer.body.error, request_id: '' })
      assert.ok(!JSON.stringify(given.body).includes('hunter2'))
    }
  })
})
