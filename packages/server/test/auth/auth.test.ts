// Keys are exchanged for tokens, tokens identify the caller, and both can end.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { revokeKeyRow } from '../../src/auth/sql.ts'
import type { Value } from '../../src/store/db.ts'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { later } from '../support/later.ts'
import { AGENT, ALL_SCOPES, serviceForSuite, startService, tenantForSuite } from '../support/service.ts'

const HOUR = 3_600_000

type Json = Record<string, unknown>
const encode = (value: Json): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const decode = (part: string): Json => JSON.parse(Buffer.from(part, 'base64url').toString()) as Json
const headerOf = (token: string): Json => decode(token.split('.')[0]!)
const claimsOf = (token: string): Json => decode(token.split('.')[1]!)

function sign(header: Json, claims: Json, key: Uint8Array, hash = 'sha256'): string {
  const text = `${encode(header)}.${encode(claims)}`
  return `${text}.${createHmac(hash, key).update(text).digest('base64url')}`
}

/** Returns the token with a last character that stands for the same bytes: its lowest two bits are not used. */
function otherSpelling(token: string): string {
  const last = token.at(-1)!
  const bytes = (end: string): string => Buffer.from(`AA${end}`, 'base64url').toString('hex')
  const characters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_']
  return token.slice(0, -1) + characters.find((other) => other !== last && bytes(other) === bytes(last))!
}

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)

  const exchange = (api_key: unknown) => service.call('POST /v1/auth/token', { body: { api_key } })
  const whoAmI = (token: string, at = service) => at.call('GET /v1/agents?limit=1', { token })
  const works = async (token: string, at = service): Promise<boolean> => {
    const reply = await whoAmI(token, at)
    if (reply.status !== 200) assertError(reply, 'authentication_failed')
    return reply.status === 200
  }

  test("[AUTH-1] an agent's key is exchanged for a token of one hour, and the agent is shown", async () => {
    const agent = await tenant.agent({ team: 'blue' })
    const reply = await exchange(agent.key)
    assert.equal(reply.status, 200)
    assert.deepEqual(Object.keys(reply.body).sort(), [
      'access_token',
      'agent',
      'expires_at',
      'expires_in',
      'token_type',
    ])
    assert.equal(reply.body.token_type, 'Bearer')
    assert.equal(Date.parse(reply.body.expires_at), service.clock.now() + HOUR)
    assert.deepEqual(reply.body.agent, (await service.call(`GET /v1/agents/${agent.id}`, { token: tenant.admin })).body)
    assert.ok(await works(reply.body.access_token))
  })

  test('[AUTH-1] the exchange needs no Authorization header and ignores one', async () => {
    const reply = await service.call('POST /v1/auth/token', { token: 'nonsense', body: { api_key: tenant.adminKey } })
    assert.equal(reply.status, 200)
  })

  test("[AUTH-12] an org-admin's key is of the same kind; its agent is null", async () => {
    assert.match(tenant.adminKey, /^ak_live_[A-Za-z0-9]{32}$/)
    const reply = await exchange(tenant.adminKey)
    assert.equal(reply.status, 200)
    assert.equal(reply.body.agent, null)
  })

  test('[AUTH-2] a malformed key is 400, an unknown one 401', async () => {
    const random = 'aVeryUnlikelyKey0123456789abcdef'
    const malformed = [
      '',
      'ak_live_',
      `ak_live_${random}x`,
      `ak_live_${random.slice(1)}`,
      `ak_test_${random}`,
      `AK_LIVE_${random}`,
      `ak_live_${random.slice(1)}_`,
      ` ak_live_${random}`,
      `ak_live_${random}\n`,
      `ak_live_${random.slice(1)}\u00e9`,
      null,
      7,
      {},
      [`ak_live_${random}`],
      undefined,
    ]
    for (const key of malformed) assertError(await exchange(key), 'validation_failed', { field: 'api_key' })
    assertError(await exchange(`ak_live_${random}`), 'authentication_failed')
  })

  test('[AUTH-4] [AUTH-7] the claims of a token', async () => {
    const agent = await tenant.agent({ scopes: ['receive', 'memory:read', 'send'], team: 'blue' })
    const seconds = Math.floor(service.clock.now() / 1000)
    const claims = claimsOf(agent.token)
    assert.deepEqual(
      { ...claims, jti: null },
      {
        iss: 'sensorium',
        sub: agent.id,
        tid: tenant.id,
        key: agent.keyId,
        scope: 'receive memory:read send',
        team: 'blue',
        iat: seconds,
        exp: seconds + 3600,
        jti: null,
      },
    )
    assert.match(String(claims['jti']), /^\S{8,}$/)
    assert.notEqual(claimsOf(await tenant.token(agent.key))['jti'], claims['jti'])
    assert.deepEqual(headerOf(agent.token), { alg: 'HS256', typ: 'JWT' })

    const alone = claimsOf((await tenant.agent()).token)
    assert.equal('team' in alone, false)
    const admin = claimsOf(tenant.admin)
    assert.match(String(admin['sub']), /^adm_/)
    assert.equal(admin['scope'], ALL_SCOPES.join(' '))
  })

  test('[AUTH-5] [AUTH-6] a token that this service did not sign with its one algorithm is refused', async () => {
    const { tokenKey } = service.secrets
    const [header, claims] = [headerOf(tenant.admin), claimsOf(tenant.admin)]
    const [head, body, signature] = tenant.admin.split('.') as [string, string, string]
    assert.ok(await works(sign(header, claims, tokenKey)), 'the forger of this test forges well')
    const forged: Record<string, string> = {
      'alg none': `${encode({ alg: 'none', typ: 'JWT' })}.${body}.`,
      'alg none, signed': sign({ alg: 'none' }, claims, tokenKey),
      'alg None': `${encode({ alg: 'None' })}.${body}.${signature}`,
      'HS512 with the right key': sign({ ...header, alg: 'HS512' }, claims, tokenKey, 'sha512'),
      'RS256 in name': sign({ ...header, alg: 'RS256' }, claims, tokenKey),
      'no algorithm': sign({ typ: 'JWT' }, claims, tokenKey),
      'another key': sign(header, claims, Buffer.from('another key')),
      'an empty key': sign(header, claims, Buffer.alloc(0)),
      'the master secret': sign(header, claims, Buffer.from(service.config.secret!)),
      'changed claims': `${head}.${encode({ ...claims, scope: 'admin' })}.${signature}`,
      'no signature': `${head}.${body}.`,
      'two parts': `${head}.${body}`,
      'four parts': `${tenant.admin}.x`,
      'a cut signature': tenant.admin.slice(0, -1),
      'a padded signature': `${tenant.admin}=`,
      'a signature with other unused bits': otherSpelling(tenant.admin),
      'another issuer': sign(header, { ...claims, iss: 'somebody' }, tokenKey),
      'no expiry': sign(header, { ...claims, exp: undefined }, tokenKey),
      'expiry as text': sign(header, { ...claims, exp: String(claims['exp']) }, tokenKey),
      'a critical header': sign({ ...header, crit: ['b64'], b64: false }, claims, tokenKey),
      'an unknown key': sign(header, { ...claims, key: 'key_01hv3k8z9q4m7t2x5c6w8r0s1d' }, tokenKey),
      'a key of another tenant': sign(header, { ...claims, tid: (await service.tenant()).id }, tokenKey),
      'an API key': tenant.adminKey,
      nothing: '',
      rubbish: 'a.b.c',
    }
    for (const [what, token] of Object.entries(forged)) assert.equal(await works(token), false, what)
  })

  test('[AUTH-3] [KEY-4] a token does not outlive its key', async () => {
    const agent = await tenant.agent()
    const expires_at = new Date(service.clock.now() + 90_000).toISOString()
    const minted = await service.call(`POST /v1/agents/${agent.id}/keys`, {
      token: tenant.admin,
      body: { scopes: ['send'], expires_at },
    })
    await service.clock.advance(30_000)
    const reply = await exchange(minted.body.key)
    assert.equal(reply.body.expires_at, expires_at)
    assert.equal(claimsOf(reply.body.access_token)['exp'], Date.parse(expires_at) / 1000)
    await service.clock.advance(59_000)
    assert.ok(await works(reply.body.access_token))
    assert.equal((await exchange(minted.body.key)).status, 200)
    await service.clock.advance(1000)
    assert.equal(await works(reply.body.access_token), false)
    assertError(await exchange(minted.body.key), 'authentication_failed')
  })

  test('[AUTH-13] revoking a key ends its tokens at once, and no others', async () => {
    const agent = await tenant.agent()
    const other = await service.call(`POST /v1/agents/${agent.id}/keys`, {
      token: tenant.admin,
      body: { scopes: ['send'] },
    })
    const [first, second, spare] = [agent.token, await tenant.token(agent.key), await tenant.token(other.body.key)]
    for (const token of [first, second, spare]) assert.ok(await works(token))
    assert.equal(
      (await service.call(`DELETE /v1/agents/${agent.id}/keys/${agent.keyId}`, { token: tenant.admin })).status,
      204,
    )
    assert.deepEqual([await works(first), await works(second), await works(spare)], [false, false, true])
    assertError(await exchange(agent.key), 'authentication_failed')
    await service.clock.advance(5000)
    assert.deepEqual([await works(first), await works(spare)], [false, true])
  })

  test('[AUTH-13] a key that is revoked while in use is refused from that moment on', async () => {
    for (let round = 0; round < 10; round++) {
      const agent = await tenant.agent()
      // The node reads the key's standing while the revocation commits, in either order.
      await service.clock.advance(600)
      const [, revoked] = await Promise.all([
        works(agent.token),
        service.call(`DELETE /v1/agents/${agent.id}/keys/${agent.keyId}`, { token: tenant.admin }),
        works(agent.token),
      ])
      assert.equal(revoked.status, 204)
      assert.equal(await works(agent.token), false)
    }
  })

  test('[AUTH-13] a key that is revoked while its standing is read is refused', async (t) => {
    const agent = await tenant.agent()
    const { outsideTx } = service.store
    const { rows } = outsideTx
    await service.clock.advance(600)
    assert.ok(await works(tenant.admin))
    let revoked = 0
    t.after(() => (outsideTx.rows = rows))
    // What was read before the revocation arrives after it.
    outsideTx.rows = async <T>(sql: string, values?: readonly Value[]): Promise<T[]> => {
      const found = await rows<T>(sql, values)
      if (revoked > 0 || !sql.includes('api_keys')) return found
      revoked = 1
      const path = `/v1/agents/${agent.id}/keys/${agent.keyId}`
      revoked = (await service.call(`DELETE ${path}`, { token: tenant.admin })).status
      return found
    }
    assert.equal(await works(agent.token), false)
    assert.equal(revoked, 204)
  })

  test('[AUTH-13] a key that another node revoked is refused within a second, announced or not', async () => {
    const agent = await tenant.agent()
    assert.ok(await works(agent.token))
    await service.store.tx((tx) => revokeKeyRow(tx, tenant.id, agent.id, agent.keyId, service.clock.now()))
    await service.clock.advance(999)
    assert.equal(await works(agent.token), false)
  })

  test('[AUTH-14] deactivating an agent ends its tokens and its keys; activating brings both back', async () => {
    const agent = await tenant.agent()
    const bystander = await tenant.agent()
    assert.ok(await works(agent.token))
    await service.call(`POST /v1/agents/${agent.id}/deactivate`, { token: tenant.admin })
    assert.equal(await works(agent.token), false)
    assertError(await exchange(agent.key), 'authentication_failed')
    assert.ok(await works(bystander.token))
    await service.clock.advance(10_000)
    await service.call(`POST /v1/agents/${agent.id}/activate`, { token: tenant.admin })
    assert.ok(await works(agent.token))
    assert.equal((await exchange(agent.key)).status, 200)
  })

  test('[AUTH-14] an agent may deactivate itself, and then has no access', async () => {
    const agent = await tenant.agent()
    const reply = await service.call(`POST /v1/agents/${agent.id}/deactivate`, { token: agent.token })
    assert.equal(reply.status, 200)
    assert.equal(await works(agent.token), false)
  })

  test('[AUTH-15] only the token decides who the caller is', async () => {
    const other = await service.tenant()
    const victim = await other.agent()
    const claim = { 'x-tenant-id': other.id, 'x-agent-id': victim.id, 'x-forwarded-user': victim.id }
    const query = `tenant_id=${other.id}&agent_id=${victim.id}`
    const body = { ...AGENT, tenant_id: other.id, agent_id: victim.id, sub: victim.id, tid: other.id }
    const made = await service.call(`POST /v1/agents?${query}`, { token: tenant.admin, body, headers: claim })
    assert.equal(made.body.tenant_id, tenant.id)
    const listed = await service.call(`GET /v1/agents?limit=200&${query}`, { token: tenant.admin, headers: claim })
    assert.ok(listed.body.agents.every((agent: { tenant_id: string }) => agent.tenant_id === tenant.id))
    const rename = await service.call(`PATCH /v1/agents/${victim.id}?${query}`, {
      token: tenant.admin,
      body: { ...body, name: 'Mine' },
      headers: claim,
    })
    assertError(rename, 'not_found', { resource_type: 'agent' })
  })

  test('[AUTH-5] tokens are valid after a restart, and invalid under another secret', async () => {
    const before = await startService(engine)
    const { admin, adminKey } = await before.tenant()
    const restarted = await before.restart()
    const elsewhere = await startService(engine, { SENSORIUM_SECRET: 'another-master-secret' })
    assert.ok(await works(admin, restarted))
    assert.equal(await works(admin, elsewhere), false)
    assertError(await elsewhere.call('POST /v1/auth/token', { body: { api_key: adminKey } }), 'authentication_failed')
    await Promise.all([restarted.stop(), elsewhere.stop()])
  })

  test('[AUTH-3] [AUTH-6] [AUTH-14] a token ends after exactly one hour, whatever happened to its agent', async () => {
    let node = await startService(engine)
    const { admin, agent: register } = await node.tenant()
    const [agent, awakened] = [await register(), await register()]
    await node.call(`POST /v1/agents/${awakened.id}/deactivate`, { token: admin })
    await node.call(`POST /v1/agents/${awakened.id}/activate`, { token: admin })
    node = await later(node, HOUR - 1000)
    for (const token of [agent.token, awakened.token, admin]) assert.ok(await works(token, node))
    await node.clock.advance(999)
    assert.ok(await works(agent.token, node))
    await node.clock.advance(1)
    for (const token of [agent.token, awakened.token, admin]) assert.equal(await works(token, node), false)
    assert.equal((await node.call('POST /v1/auth/token', { body: { api_key: agent.key } })).status, 200)
    await node.stop()
  })

  if (engine.name === 'postgres') {
    test('[AUTH-13] [AUTH-14] a key or agent that ends on one node ends on the other within a second', async () => {
      const second = await service.another()
      try {
        const [revoked, asleep] = [await tenant.agent(), await tenant.agent()]
        for (const token of [revoked.token, asleep.token, tenant.admin]) assert.ok(await works(token, second))
        await service.call(`DELETE /v1/agents/${revoked.id}/keys/${revoked.keyId}`, { token: tenant.admin })
        await service.call(`POST /v1/agents/${asleep.id}/deactivate`, { token: tenant.admin })
        assert.deepEqual([await works(revoked.token), await works(asleep.token)], [false, false])
        await service.clock.advance(1000)
        assert.deepEqual(
          [await works(revoked.token, second), await works(asleep.token, second), await works(tenant.admin, second)],
          [false, false, true],
        )
        await service.call(`POST /v1/agents/${asleep.id}/activate`, { token: tenant.admin })
        await service.clock.advance(1000)
        assert.ok(await works(asleep.token, second))
      } finally {
        await second.stop()
      }
    })
  }
})
