// The operator's commands do the same as the operator's HTTP API, on the same store, beside the service.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothEngines } from '../support/engines.ts'
import { command, sensorium } from '../support/process.ts'
import { OPERATOR_TOKEN, serviceForSuite } from '../support/service.ts'

const ID = { tenant: /^ten_[0-9a-z]{26}$/, key: /^ak_live_[A-Za-z0-9]{32}$/ }

onBothEngines((engine) => {
  const service = serviceForSuite(engine, { OPERATOR_TOKEN })

  const run = (...args: string[]) => command(args, service.env)
  const json = async (...args: string[]) => {
    const { code, stdout } = await run(...args, '--json')
    return { code, body: JSON.parse(stdout) }
  }
  const http = async (request: string, body?: unknown) =>
    (await service.call(request, { token: OPERATOR_TOKEN, body })).body

  /** The response without the parts that differ each time. */
  const sameShape = (a: Record<string, unknown>, b: Record<string, unknown>) =>
    assert.deepEqual(Object.keys(a).sort(), Object.keys(b).sort())

  test('[TEN-6] tenant create makes a tenant beside the running service, where its key works at once', async () => {
    const { code, stdout } = await sensorium(['tenant', 'create', 'acme', '--name', 'Acme Inc', '--json'], service.env)
    assert.equal(code, 0)
    const body = JSON.parse(stdout)
    assert.match(body.tenant.id, ID.tenant)
    assert.deepEqual([body.tenant.slug, body.tenant.name], ['acme', 'Acme Inc'])
    const token = await service.call('POST /v1/auth/token', { body: { api_key: body.admin_key } })
    assert.equal(token.status, 200)
    assert.equal((await service.call('GET /v1/agents', { token: token.body.access_token })).status, 200)

    const answer = await http('POST /operator/tenants', { slug: 'globex' })
    sameShape(body, answer)
    sameShape(body.tenant, answer.tenant)
  })

  test('[TEN-6] tenant create without --json prints the key once; the name defaults to the slug', async () => {
    const { code, stdout, stderr } = await run('tenant', 'create', 'initech')
    assert.equal(code, 0)
    assert.equal(stderr, '')
    assert.match(stdout, /initech/)
    assert.match(stdout, /ak_live_[A-Za-z0-9]{32}\n$/)
    const { body } = await json('tenant', 'list')
    assert.equal(body.tenants.find((tenant: { slug: string }) => tenant.slug === 'initech').name, 'initech')
  })

  test('[POL-10][CLI-33] tenant settings and tenant set do the same as the HTTP API, beside the service', async () => {
    await http('POST /operator/tenants', { slug: 'hooli' })
    const shown = await json('tenant', 'settings', 'hooli')
    assert.deepEqual(shown, { code: 0, body: await http('GET /operator/tenants/hooli/settings') })
    const given = ['max_attempts=7', 'push_retry_s=5,60', 'rate_limit_agent=off', 'quota_agents=2']
    const { body } = await json('tenant', 'set', 'hooli', ...given)
    assert.deepEqual(
      [body.max_attempts, body.push_retry_s, body.rate_limit_agent, body.quota_agents],
      [7, [5, 60], 'off', 2],
    )
    assert.deepEqual(await http('GET /operator/tenants/hooli/settings'), body)
    assert.equal((await json('tenant', 'set', 'hooli', 'max_attempts=default')).body.max_attempts, null)
    assert.match((await run('tenant', 'settings', 'hooli')).stdout, /^setting +value\n.*\nquota_agents +2\n/s)
    const held = (await run('tenant', 'settings', 'hooli')).stdout
    assert.match(held, /^visibility_timeout_s +30 \(default\)$/m)
    assert.match(held, /^rate_limit_agent +off$/m)
    assert.match(held, /^quota_memories +none \(default\)$/m)
    for (const wrong of ['max_attempts=0', 'max_attempts=many', 'attempts=7', 'max_attempts'])
      assert.equal((await run('tenant', 'set', 'hooli', wrong)).code, 1, wrong)
    assert.equal((await run('tenant', 'set', 'hooli')).code, 2)
  })

  test('[TEN-6] tenant list prints the HTTP response, pages included', async () => {
    assert.deepEqual((await json('tenant', 'list')).body, await http('GET /operator/tenants'))
    assert.deepEqual(
      (await json('tenant', 'list', '--limit', '1', '--offset', '1')).body,
      await http('GET /operator/tenants?limit=1&offset=1'),
    )
    const { stdout } = await run('tenant', 'list')
    assert.match(stdout, /^slug +name +id +created\n/)
  })

  test('[TEN-6] admin-key create makes a further key that works', async () => {
    const tenant = await service.tenant()
    const { code, body } = await json('admin-key', 'create', tenant.slug)
    assert.equal(code, 0)
    assert.deepEqual(Object.keys(body), ['admin_key'])
    assert.match(body.admin_key, ID.key)
    assert.notEqual(body.admin_key, tenant.adminKey)
    assert.ok(await tenant.token(body.admin_key))
    assert.match((await run('admin-key', 'create', tenant.slug)).stdout, /ak_live_[A-Za-z0-9]{32}\n$/)
  })

  test('[CON-35] tenant audit prints the same log as the HTTP API', async () => {
    const { slug } = await service.tenant()
    await json('tenant', 'set', slug, 'max_attempts=7')
    const { code, body } = await json('tenant', 'audit', slug, '--action', 'updateTenantSettings')
    assert.equal(code, 0)
    assert.deepEqual(body, await http(`GET /operator/tenants/${slug}/audit?action=updateTenantSettings`))
    assert.equal(body.total, 1)
    assert.match((await run('tenant', 'audit', slug)).stdout, /operator +updateTenantSettings .*max_attempts.*7/)
  })

  test('[TEN-6] usage prints the HTTP response', async () => {
    const tenant = await service.tenant()
    const { code, body } = await json('usage', tenant.slug)
    assert.equal(code, 0)
    assert.deepEqual(body, await http(`GET /operator/usage?tenant=${tenant.slug}`))
    assert.match((await run('usage', tenant.slug)).stdout, /nothing yet/)
  })

  const REFUSED: [string[], string][] = [
    [['tenant', 'create', 'acme'], 'POST /operator/tenants {"slug":"acme"}'],
    [['tenant', 'create', 'Not A Slug'], 'POST /operator/tenants {"slug":"Not A Slug"}'],
    [['tenant', 'create', 'fine', '--name', '  '], 'POST /operator/tenants {"slug":"fine","name":"  "}'],
    [['tenant', 'list', '--limit', '0'], 'GET /operator/tenants?limit=0'],
    [['tenant', 'list', '--offset', 'x'], 'GET /operator/tenants?offset=x'],
    [['admin-key', 'create', 'nobody'], 'POST /operator/tenants/nobody/admin-keys'],
    [['usage', 'nobody'], 'GET /operator/usage?tenant=nobody'],
    [['usage', 'No-'], 'GET /operator/usage?tenant=No-'],
  ]
  for (const [args, request] of REFUSED) {
    test(`[TEN-6][CLI-3] sensorium ${args.join(' ')} is refused as ${request} is`, async () => {
      const [method, path, body] = request.split(/ (?=\/|\{)/)
      const answer = await http(`${method} ${path}`, body && JSON.parse(body))
      const given = await json(...args)
      const expected = answer.error.code === 'not_found' ? 4 : 1
      assert.equal(given.code, expected)
      assert.ok(given.body.error.request_id)
      assert.deepEqual({ ...given.body.error, request_id: '' }, { ...answer.error, request_id: '' })

      if (engine.name !== 'sqlite') return // the message does not depend on the store
      const { code, stdout, stderr } = await run(...args)
      assert.deepEqual([code, stdout, stderr], [expected, '', answer.error.message + '\n'])
    })
  }
})
