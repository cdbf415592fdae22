// How the server serves the built console.
import assert from 'node:assert/strict'
import { get } from 'node:http'
import { test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { onBothEngines } from '../../server/test/support/engines.ts'
import { serviceForSuite, startService } from '../../server/test/support/service.ts'

/** `fetch` would decompress it. */
const bytesAt = (url: string, encoding: string): Promise<{ headers: Record<string, unknown>; body: Buffer }> =>
  new Promise((resolve, reject) => {
    get(url, { headers: { 'accept-encoding': encoding } }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => resolve({ headers: response.headers, body: Buffer.concat(chunks) }))
    }).on('error', reject)
  })

onBothEngines((engine) => {
  const service = serviceForSuite(engine)

  const scriptOf = (html: string): string => /src="(\/console\/assets\/[^"]+\.js)"/.exec(html)![1]!

  test('[UI-1] every address below /console is its page, which caches revalidate', async () => {
    for (const path of ['/console', '/console/', '/console/agents/agt_1?tab=keys', '/console/events/a.b.js']) {
      const { status, headers, text } = await service.call(`GET ${path}`)
      assert.equal(status, 200, path)
      assert.equal(headers.get('content-type'), 'text/html; charset=utf-8')
      assert.equal(headers.get('cache-control'), 'no-cache')
      assert.match(text, /<div id="root">/)
    }
    const { status } = await service.call('GET /consolation')
    assert.equal(status, 404)
  })

  test('[UI-1] files never change under their URL, and have ETags', async () => {
    const script = scriptOf((await service.call('GET /console')).text)
    const first = await service.call(`GET ${script}`)
    assert.equal(first.headers.get('cache-control'), 'public, max-age=31536000, immutable')
    assert.equal(first.headers.get('vary'), 'accept-encoding')
    const tag = first.headers.get('etag')!
    const again = await service.call(`GET ${script}`, { headers: { 'if-none-match': `"other", ${tag}` } })
    assert.deepEqual([again.status, again.text], [304, ''])
    const missing = await service.call('GET /console/assets/index-gone.js')
    assert.deepEqual([missing.status, missing.body.error.code], [404, 'not_found'])
    const climbing = await service.call('GET /console/assets/..%2f..%2fpackage.json')
    assert.equal(climbing.status, 404)
  })

  test('[UI-1] a client gets an encoding that it accepts, and HEAD the same without the body', async () => {
    const script = scriptOf((await service.call('GET /console')).text)
    const plain = await bytesAt(service.url + script, 'identity')
    const brotli = await bytesAt(service.url + script, 'gzip;q=0.5, br')
    const gzip = await bytesAt(service.url + script, 'gzip, br;q=0')
    assert.equal(plain.headers['content-encoding'], undefined)
    assert.equal(brotli.headers['content-encoding'], 'br')
    assert.equal(gzip.headers['content-encoding'], 'gzip')
    assert.deepEqual(brotliDecompressSync(brotli.body), plain.body)
    assert.deepEqual(gunzipSync(gzip.body), plain.body)
    const tags = [plain, brotli, gzip].map(({ headers }) => headers['etag'])
    assert.equal(new Set(tags).size, 3)
    const head = await service.call(`HEAD ${script}`)
    assert.deepEqual([head.status, head.text], [200, ''])
  })

  test('[UI-1] any method but GET and HEAD is 405', async () => {
    for (const method of ['POST', 'DELETE', 'PUT']) {
      const { status, headers, body } = await service.call(`${method} /console`)
      assert.deepEqual([status, body.error.code, headers.get('allow')], [405, 'method_not_allowed', 'GET, HEAD'])
    }
  })

  test('[UI-2] the page runs no inline script, connects to no other host, and cannot be framed', async () => {
    const { headers, text } = await service.call('GET /console')
    const policy = headers.get('content-security-policy')!
    assert.match(policy, /default-src 'none'/)
    assert.match(policy, /frame-ancestors 'none'/)
    assert.doesNotMatch(policy, /unsafe|https?:|data:|blob:|\*/)
    assert.doesNotMatch(text, /<script(?![^>]*\bsrc=)|<style|\bstyle=|\bon\w+=/)
    assert.doesNotMatch(text, /(?:src|href)="(?!\/)/)
  })

  test('[HTTP-27] the console and MCP are outside /v1', async () => {
    const tenant = await service.tenant()
    assert.equal((await service.call('GET /console')).status, 200)
    const initialize = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
    }
    const spoken = await fetch(`${service.url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${(await tenant.agent()).token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify(initialize),
    })
    assert.equal(spoken.status, 200)
    assert.match(await spoken.text(), /"serverInfo"/)
    for (const path of ['GET /v1/console', 'POST /v1/mcp'] as const)
      assert.equal((await service.call(path, { token: tenant.admin })).status, 404, path)
  })

  test('[UI-3] with CONSOLE=off there is no console', async (t) => {
    const without = await startService(engine, { CONSOLE: 'off' })
    t.after(() => without.stop())
    const { status, body } = await without.call('GET /console')
    assert.deepEqual([status, body.error.code], [404, 'not_found'])
  })
})
