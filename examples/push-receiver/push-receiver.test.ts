// Tests both receivers with pushes from a real service.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { test, type TestContext } from 'node:test'
import { createClient } from '@sensorium/client'
import { ADMIN_KEY, startService } from '../start-service.ts'

const hasPython = spawnSync('python3', ['--version']).status === 0
const file = (name: string): string => path.join(import.meta.dirname, name)

/** Starts a receiver as a process, and reads its output line by line. */
async function startReceiver(t: TestContext, command: string[], secret: string) {
  const receiver = spawn(command[0]!, [...command.slice(1), '0'], {
    env: { ...process.env, PUSH_SECRET: secret },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => receiver.kill())
  const lines = createInterface({ input: receiver.stdout })[Symbol.asyncIterator]()
  const next = async (): Promise<string> => String((await lines.next()).value)
  const port = /listening on (\d+)/.exec(await next())![1]!
  return { url: `http://127.0.0.1:${port}/`, next }
}

const secondsAgo = (seconds: number): string => String(Math.floor(Date.now() / 1000) - seconds)

/** Posts a push as a stranger, or a service with another secret, would. */
async function post(url: string, secret: string, body: string, at?: string): Promise<number> {
  const timestamp = at ?? secondsAgo(0)
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const signature = createHmac('sha256', key).update(`dlv_1.${timestamp}.${body}`).digest('base64')
  const headers = { 'webhook-id': 'dlv_1', 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
  const response = await fetch(url, { method: 'POST', headers, body })
  await response.body?.cancel()
  return response.status
}

/** Claims a body of this length, and sends none. Resolves to the status of the response. */
async function claimLength(url: string, length: string): Promise<number> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.end(`POST / HTTP/1.1\r\nhost: receiver\r\ncontent-length: ${length}\r\n\r\n`)
  const [response] = await Promise.race([once(socket, 'data'), once(socket, 'close')])
  socket.destroy()
  return Number(/^HTTP\/1\.\d (\d{3})/.exec(String(response))?.[1])
}

for (const [name, command] of [
  ['TypeScript', [process.execPath, file('receiver.ts')]],
  ['Python', ['python3', file('receiver.py')]],
] as const) {
  test(`[DOC-16] a receiver in ${name} accepts what the service signed, and nothing else`, async (t) => {
    if (name === 'Python' && !hasPython) return t.diagnostic('there is no python3 on this machine')
    const url = await startService(t, { PUSH_ALLOW_PRIVATE: 'on' })
    const admin = createClient({ url, apiKey: ADMIN_KEY })
    const { id } = await admin.agents.register({ name, delivery_mode: 'push', client_type: 'other' })
    const { push_secret: secret } = await admin.agents.rotatePushSecret(id)
    const receiver = await startReceiver(t, [...command], secret)
    await admin.agents.update(id, { delivery_endpoint: receiver.url })

    const { event_id } = await admin.agents.sendTestEvent(id)
    assert.equal(await receiver.next(), `received ${event_id}, attempt 1`)
    const body = JSON.stringify({ id: 'dlv_1', event_id: 'e-1', attempt_count: 1, payload: {} })
    const other = `whsec_${Buffer.from('another secret').toString('base64')}`
    assert.equal(await post(receiver.url, other, body), 401, 'signed by somebody else')
    assert.equal(await post(receiver.url, secret, body, secondsAgo(600)), 401, 'recorded ten minutes ago')
    assert.equal(await post(receiver.url, other, body, '9'.repeat(400)), 401, 'a time that no clock shows')
    assert.equal((await fetch(receiver.url, { method: 'POST', body })).status, 401, 'not signed')
    for (const length of ['-1', '+9', '1_0', 'ten', '9'.repeat(5000)])
      assert.ok([400, 413].includes(await claimLength(receiver.url, length)), `a body of ${length.slice(0, 9)} bytes`)
    assert.equal(await post(receiver.url, secret, body), 204)
    assert.equal(await post(receiver.url, secret, body), 204, 'a second time it is only acknowledged')
    assert.equal(await receiver.next(), 'received e-1, attempt 1')
    const again = await admin.agents.sendTestEvent(id)
    assert.equal(await receiver.next(), `received ${again.event_id}, attempt 1`)
  })
}

test('[DOC-16] the guide shows the Python that runs here', () => {
  const guide = readFileSync(path.resolve(import.meta.dirname, '../../docs/push-receivers.md'), 'utf8')
  const shown = /^```python\n([^]*?)^```$/m.exec(guide)![1]!
  assert.ok(readFileSync(file('receiver.py'), 'utf8').includes(shown))
})
