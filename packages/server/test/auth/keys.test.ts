// API keys: minted once in plain text, listed without it, revoked for good.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SCOPES } from '@sensorium/contract'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { agentForSuite, serviceForSuite, tenantForSuite } from '../support/service.ts'

const DAY = 86_400_000

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)
  const agent = agentForSuite(tenant)

  const mint = (body: unknown, token = tenant.admin, id = agent.id) =>
    service.call(`POST /v1/agents/${id}/keys`, { token, body })
  const list = async (id = agent.id) =>
    (await service.call(`GET /v1/agents/${id}/keys`, { token: tenant.admin })).body.keys
  const revoke = (keyId: string, id = agent.id) =>
    service.call(`DELETE /v1/agents/${id}/keys/${keyId}`, { token: tenant.admin })
  const exchange = (api_key: string) => service.call('POST /v1/auth/token', { body: { api_key } })
  const inDays = (days: number): string => new Date(service.clock.now() + days * DAY).toISOString()

  test('[KEY-1] [KEY-2] a minted key is shown in full, and works', async () => {
    const expires_at = inDays(30)
    const { status, body } = await mint({ scopes: ['send', 'memory:read'], expires_at })
    assert.equal(status, 201)
    assert.deepEqual(Object.keys(body).sort(), ['created_at', 'expires_at', 'id', 'key', 'prefix', 'scopes'])
    assert.match(body.id, /^key_[0-9a-hjkmnp-tv-z]{26}$/)
    assert.match(body.key, /^ak_live_[A-Za-z0-9]{32}$/)
    assert.ok(body.key.startsWith(body.prefix) && body.prefix.length > 8 && body.prefix.length <= 16)
    assert.deepEqual(body.scopes, ['send', 'memory:read'])
    assert.equal(body.expires_at, expires_at)
    assert.equal(body.created_at, new Date(service.clock.now()).toISOString())
    const token = await exchange(body.key)
    assert.equal(token.status, 200)
    assert.equal(token.body.agent.id, agent.id)
  })

  test('[KEY-2] no two keys are alike, and every letter and digit occurs', async () => {
    const keys = new Set<string>()
    for (let i = 0; i < 40; i++) keys.add((await mint({ scopes: ['send'] })).body.key)
    assert.equal(keys.size, 40)
    const used = new Set([...keys].flatMap((key) => [...key.slice('ak_live_'.length)]))
    assert.equal(used.size, 62)
  })

  test('[KEY-3] each of the nine scopes can be minted, alone and together', async () => {
    for (const scope of SCOPES) assert.deepEqual((await mint({ scopes: [scope] })).body.scopes, [scope])
    assert.deepEqual((await mint({ scopes: SCOPES })).body.scopes, [...SCOPES])
    assert.deepEqual((await mint({ scopes: ['send', 'receive', 'send'] })).body.scopes, ['send', 'receive'])
  })

  const wrongScopes: [scopes: unknown, field: string][] = [
    [undefined, 'scopes'],
    [null, 'scopes'],
    ['send', 'scopes'],
    [{}, 'scopes'],
    [[], 'scopes'],
    [['memories:write'], 'scopes[0]'],
    [['send', 'SEND'], 'scopes[1]'],
    [['send', 'receive', ' admin'], 'scopes[2]'],
    [['send', 1], 'scopes[1]'],
    [['send', null], 'scopes[1]'],
    [['send', ['receive']], 'scopes[1]'],
    [['*'], 'scopes[0]'],
    [Array(65).fill('send'), 'scopes'],
  ]
  for (const [scopes, field] of wrongScopes) {
    test(`[KEY-3] scopes ${JSON.stringify(scopes)?.slice(0, 40)} are refused at ${field}`, async () => {
      assertError(await mint({ scopes }), 'validation_failed', { field })
    })
  }

  test('[KEY-4] expires_at is null, left out, or a date-time in the future', async () => {
    assert.equal((await mint({ scopes: ['send'] })).body.expires_at, null)
    assert.equal((await mint({ scopes: ['send'], expires_at: null })).body.expires_at, null)
    const local = await mint({ scopes: ['send'], expires_at: '2031-03-31T23:30:00.5-05:30' })
    assert.equal(local.body.expires_at, '2031-04-01T05:00:00.500Z')
    for (const fine of ['2031-01-31t12:00:00z', '2032-02-29T00:00:00Z', '2031-12-31T23:59:59.123456789+23:59']) {
      assert.equal((await mint({ scopes: ['send'], expires_at: fine })).status, 201, fine)
    }
    const now = service.clock.now()
    const past = [
      '1970-01-01T00:00:00Z',
      '0000-01-01T00:00:00Z',
      new Date(now - 1).toISOString(),
      new Date(now).toISOString(),
    ]
    const malformed = [
      '',
      'soon',
      '9999-12-31T23:59:59-12:00',
      '2031-01-31',
      '2031-01-31T12:00:00',
      '2031-13-01T00:00:00Z',
      '2031-02-29T00:00:00Z',
      '2031-01-01T24:00:00Z',
      '2031-01-01T00:60:00Z',
      '2031-01-01 00:00:00Z',
      '2031-01-01T00:00:00+24:00',
      '2031-01-01T00:00:00Zx',
      1_925_000_000,
      true,
      {},
    ]
    for (const expires_at of [...past, ...malformed]) {
      assertError(await mint({ scopes: ['send'], expires_at }), 'validation_failed', {
        field: 'expires_at',
        value: expires_at,
      })
    }
  })

  test('[KEY-5] a listing shows what a key is and when it was last used, never the key', async () => {
    const owner = await tenant.agent()
    const minted = await mint({ scopes: ['send'], expires_at: inDays(1) }, tenant.admin, owner.id)
    const { key, ...shown } = minted.body
    await service.clock.advance(1000)
    const reply = await service.call(`GET /v1/agents/${owner.id}/keys`, { token: tenant.admin })
    assert.equal(reply.status, 200)
    assert.deepEqual(Object.keys(reply.body), ['keys'])
    assert.equal(reply.body.keys.length, 2)
    assert.deepEqual(reply.body.keys[0], { ...shown, last_used_at: null })
    assert.equal(reply.text.includes(key), false)
    assert.equal(reply.text.includes(owner.key), false)
    await exchange(key)
    const [used] = await list(owner.id)
    assert.equal(used.last_used_at, new Date(service.clock.now()).toISOString())
    // Keys of another agent are not listed; an expired key still is.
    await service.clock.advance(1000)
    assert.equal(
      (await list(agent.id)).some(({ id }: { id: string }) => id === minted.body.id),
      false,
    )
  })

  test('[KEY-6] a revoked key is gone: from the list, from the exchange, and for a second revocation', async () => {
    const { body } = await mint({ scopes: ['send'] })
    assert.equal((await exchange(body.key)).status, 200)
    const revoked = await revoke(body.id)
    assert.equal(revoked.status, 204)
    assert.equal(revoked.text, '')
    assertError(await exchange(body.key), 'authentication_failed')
    assert.equal(
      (await list()).some(({ id }: { id: string }) => id === body.id),
      false,
    )
    assertError(await revoke(body.id), 'not_found', { resource_type: 'api_key', resource_id: body.id })
  })

  test('[KEY-6] a key is revoked only through its own agent, and not through another tenant', async () => {
    const [other, stranger] = [await tenant.agent(), await service.tenant()]
    assertError(await revoke(agent.keyId, other.id), 'not_found', {
      resource_type: 'api_key',
      resource_id: agent.keyId,
    })
    const foreign = await service.call(`DELETE /v1/agents/${agent.id}/keys/${agent.keyId}`, { token: stranger.admin })
    assertError(foreign, 'not_found', { resource_type: 'agent' })
    assert.equal((await exchange(agent.key)).status, 200)
  })

  test("[KEY-6] an org-admin's key is no agent key: it is neither listed nor revoked as one", async () => {
    const [row] = await service.store.rows<{ id: string; owner_id: string }>(
      "select id, owner_id from api_keys where tenant_id = ? and owner_type = 'org_admin'",
      [tenant.id],
    )
    assertError(await revoke(row!.id), 'not_found')
    assertError(await revoke(row!.id, row!.owner_id), 'not_found', { resource_type: 'agent' })
    assertError(await service.call(`GET /v1/agents/${row!.owner_id}/keys`, { token: tenant.admin }), 'not_found', {
      resource_type: 'agent',
    })
    assert.equal((await exchange(tenant.adminKey)).status, 200)
  })

  test('[KEY-7] [AUTH-11] an agent mints only what it holds, an org-admin anything', async () => {
    const minter = await tenant.agent({ scopes: ['admin', 'send', 'memory:read'] })
    const other = await tenant.agent()
    for (const id of [minter.id, other.id]) {
      assert.equal((await mint({ scopes: ['send', 'admin', 'memory:read'] }, minter.token, id)).status, 201)
      assertError(await mint({ scopes: ['send', 'receive', 'memory:write'] }, minter.token, id), 'insufficient_scope', {
        required_scope: 'receive',
      })
      assertError(await mint({ scopes: ['memory:write', 'receive'] }, minter.token, id), 'insufficient_scope', {
        required_scope: 'memory:write',
      })
    }
    const before = (await list(other.id)).length
    assertError(await mint({ scopes: ['receive'] }, minter.token, other.id), 'insufficient_scope')
    assert.equal((await list(other.id)).length, before)
  })

  test('[KEY-7] [HTTP-4] a scope not held is reported before a date in the past or an unknown agent', async () => {
    const minter = await tenant.agent({ scopes: ['admin'] })
    const past = { scopes: ['send'], expires_at: '2001-01-01T00:00:00Z' }
    assertError(await mint(past, minter.token), 'insufficient_scope', { required_scope: 'send' })
    assertError(await mint(past, minter.token, 'agt_nobody'), 'insufficient_scope', { required_scope: 'send' })
  })

  test('[KEY-1] keys can be minted for an inactive agent, and work once it is active', async () => {
    const sleeper = await tenant.agent()
    await service.call(`POST /v1/agents/${sleeper.id}/deactivate`, { token: tenant.admin })
    const { status, body } = await mint({ scopes: ['send'] }, tenant.admin, sleeper.id)
    assert.equal(status, 201)
    assertError(await exchange(body.key), 'authentication_failed')
    await service.call(`POST /v1/agents/${sleeper.id}/activate`, { token: tenant.admin })
    assert.equal((await exchange(body.key)).status, 200)
  })

  test('[KEY-8] the store has no key in plain text, only a keyed hash', async () => {
    const { body } = await mint({ scopes: ['send'] })
    const tables =
      engine.name === 'sqlite'
        ? await service.store.rows<{ name: string }>("select name from sqlite_master where type = 'table'")
        : await service.store.rows<{ name: string }>(
            "select tablename as name from pg_tables where schemaname = 'public'",
          )
    assert.ok(tables.length > 5)
    let rows = 0
    for (const { name } of tables) {
      for (const row of await service.store.rows<Record<string, unknown>>(`select * from "${name}"`)) {
        rows++
        const text = JSON.stringify(row)
        for (const key of [body.key, agent.key, tenant.adminKey]) {
          assert.equal(text.includes(key), false, name)
          assert.equal(text.includes(key.slice('ak_live_'.length)), false, name)
        }
      }
    }
    assert.ok(rows > 50)
    const [row] = await service.store.rows<{ hash: string }>(
      'select hash from api_keys where tenant_id = ? and id = ?',
      [tenant.id, body.id],
    )
    assert.equal(row!.hash, service.secrets.hashApiKey(body.key))
  })
})
