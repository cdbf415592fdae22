// Tests both receivers with pushes from a real service.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
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

/** Posts a push as a stranger, or a service with another secret, would. */
async function post(url: string, secret: string, body: string, ageSeconds = 0): Promise<number> {
  const timestamp = String(Math.floor(Date.now() / 1000) - ageSeconds)
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const signature = createHmac('sha256', key).update(`dlv_1.${timestamp}.${body}`).digest('base64')
  const headers = { 'webhook-id': 'dlv_1', 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
  const response = await fetch(url, { method: 'POST', headers, body })
  await response.body?.cancel()
  return response.status
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
    assert.equal(await post(receiver.url, secret, body, 600), 401, 'recorded ten minutes ago')
    assert.equal((await fetch(receiver.url, { method: 'POST', body })).status, 401, 'not signed')
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
