// What a body may be: its type, its encoding, its depth and its size.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { rawConnection } from '../support/raw-http.ts'
import { AGENT, serviceForSuite, tenantForSuite, type CallOptions } from '../support/service.ts'
import { agentOf, MIB, NO_AGENT } from './tools.ts'

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)

  const post = (options: CallOptions) =>
    service.call('POST /v1/agents', {
      token: tenant.admin,
      headers: { 'content-type': 'application/json' },
      ...options,
    })

  test('[HTTP-7] [ERR-12] a body needs a content type that the endpoint takes', async () => {
    const raw = JSON.stringify(AGENT)
    for (const type of [
      'application/json',
      'Application/JSON',
      'application/json; charset=utf-8',
      'application/json;charset="UTF-8"',
    ]) {
      assert.equal((await post({ raw, headers: { 'content-type': type } })).status, 201, type)
    }
    for (const type of [
      'text/plain',
      'application/xml',
      'application/json; charset=latin1',
      'application/jsonx',
      'nonsense',
      '*/*',
    ]) {
      const details = assertError(await post({ raw, headers: { 'content-type': type } }), 'unsupported_media_type')
      assert.equal(details['content_type'], type)
      assert.deepEqual(details['supported'], ['application/json'])
    }
    assertError(await post({ raw: new TextEncoder().encode(raw), headers: {} }), 'unsupported_media_type', {
      content_type: '',
    })
  })

  test('[HTTP-7] a body that is encoded is 415, whatever its content type', async () => {
    for (const [encoding, status] of [
      ['gzip', 415],
      ['Identity', 201],
    ] as const) {
      const headers = { 'content-type': 'application/json', 'content-encoding': encoding }
      assert.equal((await post({ raw: JSON.stringify(AGENT), headers })).status, status)
    }
  })

  test('[HTTP-7] an operation without a body takes any, and ignores it', async () => {
    const agent = await tenant.agent()
    const options = { token: tenant.admin, raw: '{broken', headers: { 'content-type': 'text/plain' } }
    assert.equal((await service.call(`POST /v1/agents/${agent.id}/deactivate`, options)).status, 200)
    assert.equal((await service.call(`DELETE /v1/agents/${agent.id}/keys/${agent.keyId}`, options)).status, 204)
  })

  test('[HTTP-8] a body that is missing or not JSON in UTF-8 is 400 for the field body', async () => {
    const broken = [
      '',
      ' ',
      '{',
      '{"a":1,}',
      "{'a':1}",
      '{"a":1} {}',
      'undefined',
      '\ufeff{}',
      '{"name":"\u0001"}',
      nested(65),
    ]
    for (const raw of broken) assertError(await post({ raw }), 'validation_failed', { field: 'body' })
    const latin1 = new Uint8Array([...Buffer.from('{"name":"caf\u00e9"}', 'latin1')])
    assertError(await post({ raw: latin1 }), 'validation_failed', { field: 'body', expected: 'JSON in UTF-8' })
    assertError(await service.call('POST /v1/agents', { token: tenant.admin }), 'validation_failed', { field: 'body' })
    for (const raw of ['null', '[]', '"text"', '1', 'true']) {
      assertError(await post({ raw }), 'validation_failed', {
        field: 'body',
        value: JSON.parse(raw),
        expected: 'an object',
      })
    }
  })

  test('[HTTP-11] 64 levels of nesting pass, 65 do not', async () => {
    const withExtra = (extra: string): string => JSON.stringify(AGENT).slice(0, -1) + `,"extra":${extra}}`
    assert.equal((await post({ raw: withExtra(nested(63)) })).status, 201)
    assertError(await post({ raw: withExtra(nested(64)) }), 'validation_failed', { field: 'body' })
    const inText = JSON.stringify({ ...AGENT, extra: '[{"\\'.repeat(200) })
    assert.equal((await post({ raw: inText })).status, 201)
  })

  test('[HTTP-10] [ERR-7] 1 MiB passes, one byte more is 413 and says both sizes', async () => {
    assert.equal((await post({ raw: agentOf(MIB) })).status, 201)
    assertError(await post({ raw: agentOf(MIB + 1) }), 'payload_too_large', { actual_size: MIB + 1, max_size: MIB })
  })

  test('[HTTP-9] a body over the limit is refused while it still arrives', async () => {
    const head = `POST /v1/agents HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${tenant.admin}\r\ncontent-type: application/json\r\n`
    // Announced too long: refused with no byte of it sent.
    const announced = await rawConnection(service.url)
    announced.write(`${head}content-length: ${MIB + 1}\r\n\r\n`)
    assert.deepEqual(JSON.parse((await announced.reply()).body).error.details, { actual_size: MIB + 1, max_size: MIB })
    announced.socket.destroy()
    // Not announced: refused with the byte that is too many, while more could follow.
    const chunked = await rawConnection(service.url)
    chunked.write(`${head}transfer-encoding: chunked\r\n\r\n`)
    for (let i = 0; i < 17; i++) chunked.write(`10000\r\n${' '.repeat(65_536)}\r\n`)
    const { status, body } = await chunked.reply()
    assert.equal(status, 413)
    const { actual_size, max_size } = JSON.parse(body).error.details
    assert.ok(actual_size > MIB && actual_size <= 17 * 65_536)
    assert.equal(max_size, MIB)
    chunked.socket.destroy()
  })

  test('[HTTP-12] an unknown field is ignored and not stored', async () => {
    const { status, body } = await post({
      body: { ...AGENT, colour: 'red', status: 'inactive', id: NO_AGENT, tenant_id: 'ten_x', __proto__: null },
    })
    assert.equal(status, 201)
    assert.equal(body.status, 'active')
    assert.equal(body.tenant_id, tenant.id)
    assert.notEqual(body.id, NO_AGENT)
    const again = await service.call(`GET /v1/agents/${body.id}`, { token: tenant.admin })
    assert.deepEqual(again.body, body)
    assert.equal('colour' in again.body, false)
  })
})
