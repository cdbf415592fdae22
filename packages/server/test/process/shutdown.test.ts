// SIGTERM: requests in hand are finished, new ones are refused, and then the process ends.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { sqlite } from '../support/engines.ts'
import { startProcess, type RunningProcess } from '../support/process.ts'
import { inFlight } from '../support/in-flight.ts'
import { rawConnection } from '../support/raw-http.ts'
import { ROOT } from '../support/root.ts'
import { turnsUntil } from '../support/turns-until.ts'

const KEY = 'ak_live_0123456789abcdefghijABCDEFGHIJ01'
let env: Record<string, string>
let drop: () => Promise<void>
before(async () => {
  const fresh = await sqlite.fresh()
  env = { ...fresh.env, BOOTSTRAP_ADMIN_KEY: KEY }
  drop = fresh.drop
})
after(() => drop())

async function tokenFor(service: RunningProcess): Promise<string> {
  const answer = await fetch(`${service.url}/v1/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify({ api_key: KEY }),
  })
  return ((await answer.json()) as { access_token: string }).access_token
}

const AGENT = JSON.stringify({ name: 'Late', delivery_mode: 'poll', client_type: 'other' })

/** A request whose head the service has accepted (it answered 100), so that it waits for the body. */
async function halfRequest(service: RunningProcess, token: string) {
  const connection = await rawConnection(service.url)
  connection.write(
    `POST /v1/agents HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n` +
      `Expect: 100-continue\r\nContent-Length: ${AGENT.length}\r\n\r\n`,
  )
  assert.equal((await connection.reply()).status, 100)
  return connection
}

test('[HTTP-28] [NODE-6] a request in flight is finished; new ones are 503 with Retry-After', async () => {
  const service = await startProcess(env)
  const token = await tokenFor(service)
  const kept = await rawConnection(service.url)
  const ask = `GET /v1/agents HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`
  kept.write(ask)
  assert.equal((await kept.reply()).status, 200)
  const half = await halfRequest(service, token)

  service.kill('SIGTERM')
  await service.printed(/finishing what was taken/)

  kept.write(ask)
  const refused = await kept.reply()
  assert.equal(refused.status, 503)
  assert.equal(refused.headers['retry-after'], '1')
  assert.equal(refused.headers['connection'], 'close')
  const { error } = JSON.parse(refused.body)
  assert.equal(error.code, 'service_unavailable')
  assert.deepEqual(error.details, { retry_after_seconds: 1 })
  assert.equal(error.request_id, refused.headers['x-request-id'])
  await kept.closed

  const ready = await fetch(`${service.url}/readyz`)
  assert.equal(ready.status, 503, 'readiness says so too')

  half.write(AGENT)
  const answer = await half.reply()
  assert.equal(answer.status, 201)
  const { code } = await service.ended
  assert.equal(code, 0)

  const again = await startProcess(env)
  const found = await fetch(`${again.url}/v1/agents/${JSON.parse(answer.body).id}`, {
    headers: { authorization: `Bearer ${token}`, connection: 'close' },
  })
  assert.equal(found.status, 200, 'what was answered 201 is there')
  await again.stop()
})

test('[HTTP-28] a waiting long poll is answered at once', async () => {
  const service = await startProcess(env)
  const token = await tokenFor(service)
  const poll = await rawConnection(service.url)
  poll.write(`GET /v1/delivery/poll?wait=20 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`)
  // The poll is in hand once the metrics count it besides their own request.
  await turnsUntil(async () => (await inFlight(service.url)) >= 2)
  service.kill('SIGTERM')
  const answer = await poll.reply()
  assert.deepEqual([answer.status, answer.body], [200, '{"deliveries":[],"count":0}'])
  assert.equal(answer.headers['connection'], 'close', 'the next request is for another node')
  assert.equal((await service.ended).code, 0)
  assert.doesNotMatch(service.output(), /hanging up/, 'it was answered before anybody lost patience')
})

test('[HTTP-28] the end of a terminal stops it like SIGTERM, however many signals tell of it', async () => {
  const service = await startProcess(env)
  const half = await halfRequest(service, await tokenFor(service))
  service.kill('SIGHUP')
  await service.printed(/finishing what was taken/)
  service.kill('SIGHUP')
  half.write(AGENT)
  assert.equal((await half.reply()).status, 201)
  assert.equal((await service.ended).code, 0)
})

test('[HTTP-28] idle connections do not delay the end, and SIGINT does the same as SIGTERM', async () => {
  const service = await startProcess(env)
  const idle = await rawConnection(service.url)
  idle.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
  assert.equal((await idle.reply()).status, 200)
  const silent = await rawConnection(service.url)
  service.kill('SIGINT')
  assert.equal((await service.ended).code, 0)
  assert.doesNotMatch(service.output(), /hanging up/, 'nobody was waited for')
  await idle.closed
  await silent.closed
})

test('[HTTP-28] a second signal ends the process at once', async () => {
  const service = await startProcess(env)
  const half = await halfRequest(service, await tokenFor(service))
  service.kill('SIGINT')
  await service.printed(/finishing what was taken/)
  service.kill('SIGINT')
  assert.equal((await service.ended).code, 130)
  await half.closed
})

for (const [ends, seconds] of Object.entries({ 'DRAIN_S has passed': '1', 'a second signal comes': '300' }))
  test(`[NODE-7] it is not ready after a signal, and serves until ${ends}`, async () => {
    const service = await startProcess({ ...env, DRAIN_S: seconds })
    const headers = { authorization: `Bearer ${await tokenFor(service)}`, connection: 'close' }
    service.kill('SIGTERM')
    await service.printed(/not ready any more, and still serving/)
    if (seconds === '300') {
      assert.equal((await fetch(`${service.url}/readyz`)).status, 503)
      assert.equal((await fetch(`${service.url}/v1/agents`, { headers })).status, 200)
      service.kill('SIGHUP')
      assert.equal((await fetch(`${service.url}/healthz`)).status, 200, 'a terminal that is closed sends it twice')
      service.kill('SIGTERM')
    }
    assert.equal((await service.ended).code, 0)
    assert.match(service.output(), /still serving[^]*finishing what was taken/)
    assert.doesNotMatch(service.output(), /request not taken/, 'a health check is no request to worry about')
  })

test('[HTTP-28] clients that disconnect before their response are not counted for ever', async () => {
  const service = await startProcess(env)
  const token = await tokenFor(service)
  const hangUps = await Promise.all([
    ...Array.from({ length: 20 }, () => halfRequest(service, token)),
    ...Array.from({ length: 20 }, async () => {
      const poll = await rawConnection(service.url)
      poll.write(`GET /v1/delivery/poll?wait=20 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`)
      return poll
    }),
  ])
  await turnsUntil(async () => (await inFlight(service.url)) >= 41)
  for (const { socket } of hangUps) socket.resetAndDestroy()
  await turnsUntil(async () => (await inFlight(service.url)) <= 1)
  const { stdout, code } = await service.stop()
  assert.equal(code, 0)
  assert.doesNotMatch(stdout, /unexpected failure/, 'and it is no error of ours')
})

test('[STO-1] a process killed in the middle of a burst has kept everything that it confirmed', async () => {
  const service = await startProcess(env)
  const token = await tokenFor(service)
  const accepted: string[] = []
  let killed = false
  const publish = async (id: string): Promise<void> => {
    try {
      const answer = await fetch(`${service.url}/v1/events`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ specversion: '1.0', type: 'com.example.burst', source: '/test', id, data: { id } }),
      })
      if (answer.status === 202) accepted.push(id)
      if (accepted.length > 200 && !killed) {
        killed = true
        service.kill('SIGKILL')
      }
    } catch {
      // killed before the response: nothing was confirmed
    }
  }
  await Promise.all(
    Array.from({ length: 20 }, async (_, worker) => {
      for (let i = 0; i < 1000 && !killed; i++) await publish(`burst-${worker}-${i}`)
    }),
  )
  await service.ended
  assert.ok(accepted.length > 200)

  const again = await startProcess(env)
  const headers = { authorization: `Bearer ${await tokenFor(again)}` }
  for (const id of accepted) assert.equal((await fetch(`${again.url}/v1/events/${id}`, { headers })).status, 200, id)
  await again.stop()
})

for (const line of [
  ['npm', 'start'],
  ['npx', 'sensorium', 'start'],
])
  test(`[HTTP-28] ending ${line.join(' ')} ends the service, whatever shell is between them`, async (t) => {
    const { env: own, drop: forget } = await sqlite.fresh()
    t.after(forget)
    const [program, ...args] = line
    const started = spawn(program!, args, {
      cwd: ROOT,
      env: { ...process.env, ...own, HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'warn' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let said = ''
    for await (const chunk of started.stdout.iterator({ destroyOnReturn: false })) {
      said += String(chunk)
      if (said.includes('Sensorium listens on')) break
    }
    started.stdout.resume()
    started.kill('SIGTERM')
    // The output is closed when no process is left that could write to it.
    await once(started, 'close')
    const again = await startProcess(own)
    assert.equal((await again.stop()).code, 0, 'the store is free for the next one')
  })
