// What the client says of a connection that fails.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient, type Client, type ClientOptions } from '@sensorium/client'

test('[SDK-3] a failed connection is an error that names the address and the reason', async () => {
  const client = createClient({ url: 'http://127.0.0.1:2', apiKey: `ak_live_${'x'.repeat(32)}`, attempts: 1 })
  await assert.rejects(client.publish({ type: 'x' }), {
    name: 'ConnectionError',
    message: 'POST /v1/auth/token: the connection to 127.0.0.1:2 failed (ECONNREFUSED)',
  })
})

test('[SDK-3] a stream or an export that does not begin is an error that names the address and the reason', async () => {
  const clientWith = (more: Partial<ClientOptions> = {}): Client =>
    createClient({ url: 'http://127.0.0.1:2', token: 't', attempts: 1, ...more })
  const failure = (message: string): object => ({ name: 'ConnectionError', message })
  const nobody = 'the connection to 127.0.0.1:2 failed (ECONNREFUSED)'
  const away = clientWith()
  const lines = away.memory.exportLines()
  await assert.rejects(lines.next(), failure(`GET /v1/memories/export: ${nobody}`))
  const told = Promise.withResolvers<unknown>()
  const worker = away.worker({ mode: 'sse', handle() {}, onError: told.resolve })
  await assert.rejects(Promise.reject(await told.promise), failure(`GET /v1/delivery/stream: ${nobody}`))
  await worker.stop()
  const silent: typeof fetch = (_, init) =>
    new Promise((_resolve, reject) => init!.signal!.addEventListener('abort', () => reject(init!.signal!.reason)))
  const late = clientWith({ fetch: silent, timeoutMs: 20 }).memory.exportLines()
  await assert.rejects(late.next(), failure('GET /v1/memories/export: no response within 0.02 s'))
  const page: typeof fetch = async () => new Response('<html>', { headers: { 'content-type': 'text/html' } })
  const other = clientWith({ fetch: page }).memory.exportLines()
  await assert.rejects(other.next(), failure('GET /v1/memories/export: the response is no application/x-ndjson'))
})
