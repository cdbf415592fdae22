// Input and output of commands: pipes that end early, full disks, endless input.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { sqlite } from '../support/engines.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { bash, COMMAND, command, startSensorium } from '../support/process.ts'
import { serviceForSuite, tenantForSuite } from '../support/service.ts'
import { startGateway } from './gateway.ts'
import { newHome } from './home.ts'
import { turnsUntil } from '../support/turns-until.ts'

const service = serviceForSuite(sqlite, {}, fakeClock(Date.now()))
const tenant = tenantForSuite(service)
const home = newHome()
after(home.drop)

/** An agent with this many events in its mailbox. */
async function withEvents(count: number) {
  const agent = await tenant.agent()
  const { token } = agent
  const body = { event_type: '*', priority: 0, enrichment_depth: 'none' }
  await service.call(`POST /v1/agents/${agent.id}/interests`, { token, body })
  const env: Record<string, string> = { ...home.env, SENSORIUM_KEY: agent.key, SENSORIUM_URL: service.url }
  for (let i = 0; i < count; i++) await command(['publish', 'com.example.read', '--data', String(i)], env)
  const queue = async () => (await service.call(`GET /v1/agents/${agent.id}/queue`, { token })).body
  return { env, queue }
}

const sensorium = `${process.execPath} ${COMMAND}`
/** Makes descriptor 3 a pipe whose reader has ended. */
const unread = 'exec 3> >(:); wait $!;'

test('[CLI-3][CLI-7] listen ends when its output is not read, and gives back what it could not print', async () => {
  const { env, queue } = await withEvents(3)
  const { stdout, stderr } = await bash(`${unread} ${sensorium} listen --ack --json >&3; echo "ended $?"`, env)
  assert.deepEqual([stdout, stderr], ['ended 141\n', ''])
  // What the stream sent last is given back as soon as the service notices that it was closed.
  await turnsUntil(async () => (await queue()).leased === 0)
  assert.partialDeepStrictEqual(await queue(), { pending: 3, leased: 0 })
})

test('[CLI-3] mcp ends when its output is not read, though its input stays open', async () => {
  const { env } = await withEvents(0)
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } }
  const first = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })
  const ask = `exec 4<> <(:); echo '${first}' >&4;`
  const closed = await bash(`${ask} ${unread} ${sensorium} mcp <&4 >&3; echo "ended $?"`, env)
  assert.deepEqual([closed.stdout, closed.stderr], ['ended 141\n', ''])
  const full = await bash(`${ask} ${sensorium} mcp <&4 >/dev/full; echo "ended $?"`, env)
  assert.deepEqual([full.stdout, full.stderr], ['ended 1\n', 'ENOSPC: no space left on device, write\n'])
})

test('[CLI-3] an export whose reader ends early prints no error', async () => {
  const { env } = await withEvents(0)
  for (let i = 0; i < 3; i++) await command(['remember', `Note ${i}`, 'x'.repeat(32_000)], env)
  const { stdout, stderr } = await bash(`${unread} ${sensorium} memories export - >&3; echo "ended $?"`, env)
  assert.deepEqual([stdout, stderr], ['ended 141\n', ''])
})

test('[CLI-3] output that a full disk refuses is an error, and is not acknowledged', async (t) => {
  if (!existsSync('/dev/full')) return t.diagnostic('this system has no /dev/full')
  const { env, queue } = await withEvents(1)
  for (const args of ['whoami', 'poll --ack --json', 'memories list --json']) {
    const { code, stderr } = await bash(`${sensorium} ${args} > /dev/full`, env)
    assert.equal(code, 1, args)
    assert.match(stderr, /ENOSPC/, args)
  }
  assert.partialDeepStrictEqual(await queue(), { pending: 0, leased: 1 })
})

test('[CLI-1] poll --ack prints what it acknowledges', async () => {
  const { env, queue } = await withEvents(2)
  const { code, stdout } = await command(['poll', '--ack', '--limit', '1', '--json'], env)
  assert.deepEqual([code, JSON.parse(stdout).count], [0, 1])
  const text = await command(['poll', '--ack'], env)
  assert.match(text.stdout, /^com\.example\.read [^]*\n1 acknowledged\.\n$/)
  assert.partialDeepStrictEqual(await queue(), { pending: 0, leased: 0 })
})

test('[CLI-1] memories are imported from standard input, also with a byte order mark and CRLF', async () => {
  const { env } = await withEvents(0)
  const file = path.join(env['HOME']!, 'windows.ndjson')
  const line = (i: number): string =>
    JSON.stringify({ type: 'semantic', scope: 'agent', title: `N ${i}`, content: 'c' })
  writeFileSync(file, `\ufeff${line(1)}\r\n${line(2)}\r\n`)
  const piped = await bash(`cat ${file} | ${sensorium} memories import -`, env)
  assert.deepEqual([piped.code, piped.stdout], [0, '2 created, 0 updated, 0 skipped, 0 refused.\n'])
  const again = await command(['memories', 'import', file], env)
  assert.deepEqual([again.code, again.stdout], [0, '0 created, 0 updated, 2 skipped, 0 refused.\n'])
  const events = path.join(env['HOME']!, 'windows.json')
  writeFileSync(events, '\ufeff{"type":"com.example.marked"}\r\n')
  assert.equal((await command(['publish', '--file', events], env)).code, 0)
  const folder = await command(['memories', 'import', env['HOME']!], env)
  assert.equal(folder.code, 2)
  assert.match(folder.stderr, /cannot be read: it is a folder/)
})

test('[CLI-3] Ctrl-C ends a command that reads from the terminal', async () => {
  const { env } = await withEvents(0)
  for (const args of [
    ['remember', 'Title'],
    ['memories', 'import', '-'],
  ]) {
    const child = spawn(process.execPath, [COMMAND, ...args], { env: { PATH: process.env['PATH'], ...env } })
    // More than a pipe buffers: once all is written, the command is reading.
    await new Promise((resolve) => child.stdin.write('x'.repeat(1_048_576), resolve))
    child.kill('SIGINT')
    const [code] = (await once(child, 'exit')) as [number]
    assert.equal(code, 130, args.join(' '))
  }
})

test('[CLI-3] Ctrl-C ends a command while the service does not respond to its key', async (t) => {
  const { env } = await withEvents(0)
  let asked = Promise.withResolvers<void>()
  const silent = await startGateway(service.url, () => {
    asked.resolve()
    return new Promise(() => {})
  })
  t.after(() => silent.close())
  for (const [args, code] of [
    ['whoami', 130],
    ['keys list', 130],
    ['publish com.example.read', 130],
    ['memories export -', 130],
    ['mcp', 130],
    ['listen', 0],
  ] as const) {
    asked = Promise.withResolvers()
    const running = startSensorium(args.split(' '), { ...env, SENSORIUM_URL: silent.url })
    await asked.promise
    running.kill('SIGINT')
    assert.equal((await running.ended).code, code, args)
  }
})
