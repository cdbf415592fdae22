// What a service logs, and what it never logs.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { onBothEngines, sqlite } from '../support/engines.ts'
import { startProcess } from '../support/process.ts'

const KEY = 'ak_live_0123456789abcdefghijABCDEFGHIJ01'
const OPERATOR = 'operator-token-for-tests'

onBothEngines((engine) => {
  test('[KEY-8] keys, tokens and secrets appear in no log line, at the finest level, in success and in failure', async (t) => {
    const { env, drop } = await engine.fresh()
    t.after(drop)
    const service = await startProcess({
      ...env,
      BOOTSTRAP_ADMIN_KEY: KEY,
      OPERATOR_TOKEN: OPERATOR,
      LOG_LEVEL: 'trace',
    })
    const call = async (
      request: string,
      options: { token?: string; body?: unknown; raw?: string; headers?: Record<string, string> } = {},
    ) => {
      const [method, path] = request.split(' ') as [string, string]
      const answer = await fetch(service.url + path, {
        method,
        headers: {
          ...(options.token ? { authorization: `Bearer ${options.token}` } : {}),
          ...(options.body || options.raw ? { 'content-type': 'application/json' } : {}),
          ...options.headers,
        },
        ...(options.body ? { body: JSON.stringify(options.body) } : options.raw ? { body: options.raw } : {}),
      })
      return { status: answer.status, json: (await answer.json().catch(() => null)) as never as Record<string, string> }
    }
    const admin = (await call('POST /v1/auth/token', { body: { api_key: KEY } })).json['access_token']!
    const agent = (
      await call('POST /v1/agents', { token: admin, body: { name: 'A', delivery_mode: 'poll', client_type: 'other' } })
    ).json['id']!
    const minted = await call(`POST /v1/agents/${agent}/keys`, {
      token: admin,
      body: { scopes: ['send'] },
      headers: { 'idempotency-key': 'mint-1' },
    })
    const token = (await call('POST /v1/auth/token', { body: { api_key: minted.json['key'] } })).json['access_token']!
    const statuses = [
      await call(`POST /v1/agents/${agent}/keys`, {
        token: admin,
        body: { scopes: ['send'] },
        headers: { 'idempotency-key': 'mint-1' },
      }),
      await call('GET /v1/agents', { token }),
      await call('POST /v1/agents', { token, body: { name: 'B' } }),
      await call('POST /v1/auth/token', { body: { api_key: 'ak_live_ABCDEFGHIJ0123456789abcdefghij99' } }),
      await call('POST /v1/auth/token', { body: { api_key: `${KEY}x` } }),
      await call('POST /v1/auth/token', { raw: `{"api_key":"${KEY}` }),
      await call('GET /v1/agents', { token: `${token}x` }),
      await call(`GET /v1/agents?access_token=${token}`),
      await call('POST /operator/tenants', { token: OPERATOR, body: { slug: 'acme' } }),
      await call('POST /operator/tenants', { token: admin, body: { slug: 'other' } }),
      await call('POST /operator/tenants/acme/admin-keys', { token: OPERATOR }),
    ].map(({ status }) => status)
    assert.deepEqual(statuses, [201, 200, 403, 401, 400, 400, 401, 401, 201, 401, 201])
    const { stdout, stderr } = await service.stop()
    assert.match(stdout, /"path":"\/v1\/auth\/token"/, 'the requests are in the log')
    const all = stdout + stderr
    for (const [what, secret] of Object.entries({
      'an API key': /ak_live_/,
      'a token': /eyJ/,
      'the operator token': new RegExp(OPERATOR),
      'the master secret': new RegExp(env['SENSORIUM_SECRET']!),
    })) {
      const line = all.split('\n').find((text) => secret.test(text))
      assert.equal(line, undefined, `${what} is in the log`)
    }
  })
})

test('[HTTP-2] a log line is JSON and has the request id, the route and the caller', async (t) => {
  const { env, drop } = await sqlite.fresh()
  t.after(drop)
  const service = await startProcess(env)
  await fetch(`${service.url}/v1/agents?limit=1`, { headers: { 'x-request-id': 'find-me-in-the-log' } })
  const { stdout } = await service.stop()
  const line = stdout.split('\n').find((text) => text.includes('find-me-in-the-log'))
  const { request_id, method, path, status, ms } = JSON.parse(line!)
  assert.deepEqual(
    [request_id, method, path, status, typeof ms],
    ['find-me-in-the-log', 'GET', '/v1/agents', 401, 'number'],
  )
})

test('[SAFE-61] the line of a request shows the beginning of a long path', async () => {
  const module = JSON.stringify(new URL('../../src/kernel/logger.ts', import.meta.url).href)
  const script = `
    const { makeLogger } = await import(${module})
    const log = makeLogger('info')
    for (const length of [999, 1_000])
      log.request({ requestId: 'r', method: 'GET', path: '/' + 'a'.repeat(length), status: 404, ms: 1, address: '::1', tenant: null, principal: null })`
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script])
  const paths = stdout
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { path: string }).path)
  assert.deepEqual(paths, [`/${'a'.repeat(999)}`, `/${'a'.repeat(999)}…`])
})
