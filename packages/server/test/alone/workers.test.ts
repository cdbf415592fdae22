// Several processes behind one port, on PostgreSQL: they share the work and the port, a dead one is replaced, and they
// stop together.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { POSTGRES_URL, postgres, type FreshStore } from '../support/engines.ts'
import { refusedStart, startProcess, type RunningProcess } from '../support/process.ts'
import { turnsUntil } from '../support/turns-until.ts'

const KEY = 'ak_live_WorkWorkWorkWorkWorkWorkWorkWor1'

/** Sends a request on a new connection, because workers take turns by connection. */
async function request(url: string, path: string, init: RequestInit = {}): Promise<{ status: number; text: string }> {
  const response = await fetch(url + path, { ...init, headers: { connection: 'close', ...init.headers } })
  return { status: response.status, text: await response.text() }
}

const post = (url: string, path: string, body: unknown, token = '') =>
  request(url, path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) },
  })

const event = (id: string) => ({ specversion: '1.0', type: 'com.test.made', source: '/test', id })

/** Whether a process exists. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

async function untilGone(pids: readonly number[]): Promise<void> {
  await turnsUntil(() => !pids.some(isRunning))
}

describe('workers', { skip: POSTGRES_URL ? false : 'PostgreSQL is missing' }, () => {
  let fresh: FreshStore
  let service: RunningProcess
  const start = async (more: Record<string, string> = {}): Promise<RunningProcess> => {
    const env = { ...fresh.env, BOOTSTRAP_ADMIN_KEY: KEY, WORKERS: '2', RATE_LIMIT_TENANT: 'off', LOG_LEVEL: 'info' }
    const started = await startProcess({ ...env, ...more })
    await started.printed(/(?:a worker is ready[^]*){2}/)
    return started
  }
  const pids = (): number[] =>
    [...service.output().matchAll(/"pid":(\d+),"msg":"a worker is ready"/g)].map(([, pid]) => Number(pid))

  before(async () => {
    if (!POSTGRES_URL) return
    fresh = await postgres.migrated!()
    service = await start()
  })
  after(async () => {
    service?.kill('SIGKILL')
    await service?.ended
    await fresh?.drop()
  })

  test('[SCL-5] workers share port and work, each log line names its worker, and metrics cover all', {
    timeout: 120_000,
  }, async () => {
    assert.equal(pids().length, 2)
    const { text } = await post(service.url, '/v1/auth/token', { api_key: KEY })
    const { access_token } = JSON.parse(text) as { access_token: string }
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, i) => post(service.url, '/v1/events', event(`e${i}`), access_token)),
    )
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([202]))
    // Both see the same events: of equal ids one is new, whichever worker is asked.
    const again = await Promise.all(
      Array.from({ length: 4 }, () => post(service.url, '/v1/events', event('e0'), access_token)),
    )
    assert.ok(again.every(({ text }) => text.includes('"duplicate"')))
    for (let i = 0; i < 2; i++) {
      const metrics = (await request(service.url, '/metrics')).text
      assert.match(metrics, /^sensorium_workers 2$/m)
      assert.match(
        metrics,
        /^sensorium_http_request_seconds_count\{route="\/v1\/events",method="POST",status="202"\} 20$/m,
      )
    }
    for (const worker of [1, 2]) await service.printed(new RegExp(`"worker":${worker},"request_id":`))
  })

  test('[SCL-6] address and key are shown when the first worker listens, whatever becomes of the others', () => {
    // The second worker is started in the turn in which they are printed.
    assert.match(service.output(), /a worker is ready[^]*Sensorium listens on[^]*"msg":"ready"[^]*a worker is ready/)
  })

  test('[SAFE-14] the streams and waiting polls of one agent are bounded over all workers together', {
    timeout: 120_000,
  }, async () => {
    const { text } = await post(service.url, '/v1/auth/token', { api_key: KEY })
    const { access_token } = JSON.parse(text) as { access_token: string }
    const headers = { authorization: `Bearer ${access_token}`, connection: 'close' }
    // One after the other, and so over both workers in turn.
    const over = new AbortController()
    const statuses: number[] = []
    for (let i = 0; i < 10; i++) {
      const { status } = await fetch(`${service.url}/v1/delivery/stream`, { headers, signal: over.signal })
      statuses.push(status)
    }
    assert.deepEqual(statuses, [...Array.from({ length: 8 }, () => 200), 429, 429])
    over.abort()

    // All at once: never more than the bound, and never fewer than what one worker gives out without asking.
    const polls = Array.from({ length: 80 }, () => request(service.url, '/v1/delivery/poll?wait=5', { headers }))
    const replies = (await Promise.all(polls)).map(({ status }) => status)
    assert.deepEqual(new Set(replies), new Set([200, 429]))
    const waited = replies.filter((status) => status === 200).length
    assert.ok(waited >= 16 && waited <= 32, `${waited} polls waited`)
  })

  test('[SCL-6] a worker that dies is replaced, and the others serve meanwhile', { timeout: 120_000 }, async () => {
    const [first] = pids()
    process.kill(first!, 'SIGKILL')
    await service.printed(/a worker ended, another takes its place/)
    assert.equal((await request(service.url, '/healthz')).status, 200)
    await service.printed(/(?:a worker is ready[^]*){3}/)
    assert.equal(pids().length, 3)
    assert.equal((await request(service.url, '/readyz')).status, 200)
  })

  test('[SCL-5] [SCL-6] a worker that hangs and is killed lowers no counter and leaves no connection open', {
    timeout: 120_000,
  }, async () => {
    const hanging = pids().at(-1)!
    process.kill(hanging, 'SIGSTOP')
    // Workers take turns, so one of two connections is handed to the worker that hangs.
    const connections = await Promise.all(
      [1, 2].map(async () => {
        const socket = connect(Number(new URL(service.url).port), '127.0.0.1').on('error', () => {})
        await once(socket, 'connect')
        socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n')
        return socket
      }),
    )
    const answered = await Promise.race(
      connections.map(async (socket) => {
        await once(socket, 'data')
        return socket
      }),
    )
    const [untaken] = connections.filter((socket) => socket !== answered)
    answered.destroy()
    const published = /_count\{route="\/v1\/events",method="POST",status="202"\} 20$/m
    const late = (await request(service.url, '/metrics')).text
    assert.match(late, /^sensorium_workers 1$/m)
    assert.match(late, published)

    const closed = new Promise((resolve) => untaken!.once('close', resolve))
    // On a slow machine the primary has noticed already that it hangs.
    if (isRunning(hanging)) process.kill(hanging, 'SIGKILL')
    await closed
    assert.equal(untaken!.bytesRead, 0)
    const after = (await request(service.url, '/metrics')).text
    assert.match(after, published)
    await service.printed(/(?:a worker is ready[^]*){4}/)
  })

  test('[SCL-6] a signal stops all workers, and none is left', { timeout: 120_000 }, async () => {
    const { code } = await service.stop()
    assert.equal(code, 0)
    await untilGone(pids())
  })

  test('[NODE-7] [SCL-6] all workers serve for DRAIN_S after a signal, and a second one ends that', {
    timeout: 120_000,
  }, async () => {
    service = await start({ DRAIN_S: '300' })
    // As a supervisor does that signals every process of a service.
    process.kill(pids()[0]!, 'SIGTERM')
    service.kill('SIGTERM')
    await service.printed(/(?:not ready any more, and still serving[^]*){2}/)
    // Workers take turns by connection.
    for (const path of ['/readyz', '/readyz', '/openapi.json', '/openapi.json'])
      assert.equal((await request(service.url, path)).status, path === '/readyz' ? 503 : 200)
    assert.ok(pids().every(isRunning))
    assert.doesNotMatch(service.output(), /finishing what was taken|a worker ended/)
    assert.equal((await service.stop()).code, 0)
    assert.equal(service.output().match(/finishing what was taken/g)?.length, 2)
  })

  test('[SCL-6] workers end when their parent process is killed', { timeout: 120_000 }, async () => {
    service = await start()
    service.kill('SIGKILL')
    await service.ended
    await untilGone(pids())
  })

  test('[SCL-6] a port in use is reported once, and no process stays', { timeout: 120_000 }, async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as { port: number }
    const { code, stderr } = await refusedStart({ ...fresh.env, WORKERS: '2', PORT: String(port) })
    other.close()
    assert.equal(code, 1)
    assert.equal(stderr.match(/EADDRINUSE/g)?.length, 1, stderr)
  })
})
