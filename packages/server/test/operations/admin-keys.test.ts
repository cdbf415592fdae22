// Org-admin keys: listed and revoked by the operator.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { sensorium } from '../support/process.ts'
import { OPERATOR_TOKEN, serviceForSuite } from '../support/service.ts'

interface Shown {
  id: string
  prefix: string
  created_at: string
  last_used_at: string | null
}

onBothEngines((engine) => {
  const service = serviceForSuite(engine)

  const operator = (request: string) => service.call(request, { token: OPERATOR_TOKEN })
  const keysOf = async (slug: string): Promise<Shown[]> =>
    (await operator(`GET /operator/tenants/${slug}/admin-keys`)).body.keys
  const another = async (slug: string): Promise<string> => {
    await service.clock.advance(1) // lists are ordered by the time of creation
    return (await operator(`POST /operator/tenants/${slug}/admin-keys`)).body.admin_key
  }
  const works = async (token: string): Promise<number> => (await service.call('GET /v1/agents', { token })).status

  test('[OPS-18] keys are listed newest first, without plaintext, hash or revoked ones', async () => {
    const tenant = await service.tenant()
    const second = await another(tenant.slug)
    const reply = await operator(`GET /operator/tenants/${tenant.slug}/admin-keys`)
    assert.equal(reply.status, 200)
    assert.deepEqual(Object.keys(reply.body), ['keys'])
    const [newest, first] = reply.body.keys as [Shown, Shown]
    assert.deepEqual(Object.keys(newest).toSorted(), ['created_at', 'id', 'last_used_at', 'prefix'])
    assert.deepEqual([newest.prefix, first.prefix], [second.slice(0, 12), tenant.adminKey.slice(0, 12)])
    assert.deepEqual([newest.last_used_at, first.last_used_at], [null, first.created_at])
    assert.equal(reply.text.includes(second), false)
    assertError(await operator('GET /operator/tenants/nobody-here/admin-keys'), 'not_found', {
      resource_type: 'tenant',
      resource_id: 'nobody-here',
    })
  })

  test('[OPS-18] revoking ends the key and its tokens at once, and no others; a second time is 404', async () => {
    const tenant = await service.tenant()
    const other = await service.tenant()
    const secondToken = await tenant.token(await another(tenant.slug))
    assert.deepEqual([await works(tenant.admin), await works(secondToken)], [200, 200])
    const first = (await keysOf(tenant.slug)).at(-1)!
    const revoke = (slug: string, id: string) => operator(`DELETE /operator/tenants/${slug}/admin-keys/${id}`)
    for (const [slug, id] of [
      [other.slug, first.id],
      [tenant.slug, 'key_nonsense'],
      [tenant.slug, (await tenant.agent()).keyId],
    ] as const)
      assertError(await revoke(slug, id), 'not_found', { resource_type: 'api_key', resource_id: id })

    const reply = await revoke(tenant.slug, first.id)
    assert.deepEqual([reply.status, reply.text], [204, ''])
    assertError(await service.call('GET /v1/agents', { token: tenant.admin }), 'authentication_failed')
    assert.deepEqual([await works(secondToken), await works(other.admin)], [200, 200])
    const exchange = await service.call('POST /v1/auth/token', { body: { api_key: tenant.adminKey } })
    assertError(exchange, 'authentication_failed')
    assert.deepEqual((await keysOf(tenant.slug)).length, 1)
    assertError(await revoke(tenant.slug, first.id), 'not_found')
  })

  test('[OPS-18] the last key stays, also when all are revoked at once', async () => {
    const tenant = await service.tenant()
    for (let i = 0; i < 3; i++) await another(tenant.slug)
    const keys = await keysOf(tenant.slug)
    const replies = await Promise.all(
      keys.map(({ id }) => operator(`DELETE /operator/tenants/${tenant.slug}/admin-keys/${id}`)),
    )
    assert.deepEqual(replies.map(({ status }) => status).toSorted(), [204, 204, 204, 422])
    const [left, ...none] = await keysOf(tenant.slug)
    assert.deepEqual(none, [])
    const refused = await operator(`DELETE /operator/tenants/${tenant.slug}/admin-keys/${left!.id}`)
    assertError(refused, 'business_rule_violation', { rule: 'last_admin_key', key_id: left!.id })
  })

  test('[OPS-19] the commands do the same beside a running service, whose tokens end within a second', async () => {
    const tenant = await service.tenant()
    const run = (...args: string[]) => sensorium(args, service.env)
    const kept = await tenant.token(await another(tenant.slug))
    const listed = await run('admin-key', 'list', tenant.slug, '--json')
    assert.deepEqual(JSON.parse(listed.stdout), { keys: await keysOf(tenant.slug) })
    assert.match((await run('admin-key', 'list', tenant.slug)).stdout, /^id +prefix +created +last used\n/)
    const first = (await keysOf(tenant.slug)).at(-1)!
    assert.equal(await works(tenant.admin), 200)
    const revoked = await run('admin-key', 'revoke', tenant.slug, first.id)
    assert.deepEqual([revoked.code, revoked.stdout], [0, `Key ${first.id} is revoked.\n`])
    await service.clock.advance(1_000)
    assert.deepEqual([await works(tenant.admin), await works(kept)], [401, 200])
    const last = await run('admin-key', 'revoke', tenant.slug, (await keysOf(tenant.slug))[0]!.id, '--json')
    assert.deepEqual([last.code, JSON.parse(last.stdout).error.details.rule], [1, 'last_admin_key'])
  })
})
