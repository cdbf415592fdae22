// Errors that could end the process end at most a connection. In a separate process, because the test runner would
// catch uncaught errors too.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sqlite } from '../support/engines.ts'
import { COMMAND, startInstalled, startProcess } from '../support/process.ts'
import { rawConnection } from '../support/raw-http.ts'

test('[HTTP-3] a broken body behind a GET is refused, and its response is dropped', async (t) => {
  const { env, drop } = await sqlite.fresh()
  t.after(drop)
  const service = await startProcess(env)
  for (const path of [
    '/healthz',
    '/readyz',
    '/metrics',
    '/openapi.json',
    '/docs',
    '/v1/agents',
    '/v1/delivery/poll',
    '/v1/delivery/stream',
    '/nowhere',
  ]) {
    const connection = await rawConnection(service.url)
    connection.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`)
    assert.ok([400, 401, 404].includes((await connection.reply()).status), path)
    await connection.closed
  }
  assert.equal((await fetch(`${service.url}/readyz`)).status, 200)
  assert.equal((await service.stop()).code, 0)
})

test('[PKG-4] SIGUSR1 opens no debugger, and nothing else happens', async (t) => {
  if (process.versions.node.split('.')[0] !== '24') return t.skip('the release that the service is given flags for')
  const { env, drop } = await sqlite.fresh()
  t.after(drop)
  const service = await startInstalled(COMMAND, env)
  service.kill('SIGUSR1')
  assert.equal((await fetch(`${service.url}/readyz`)).status, 200)
  const { code, stderr } = await service.stop()
  assert.deepEqual([code, stderr], [0, ''])
})
