// Options that take a time in the past: an ISO time, or how long ago.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { argumentsOf, optionsOf, UsageError, wordsOf } from '../../src/cli/command.ts'
import { commands } from '../../src/cli/commands.ts'
import { pastTime } from '../../src/cli/past-time.ts'
import { sqlite } from '../support/engines.ts'
import { serviceForSuite, tenantForSuite } from '../support/service.ts'
import { command } from '../support/process.ts'
import { listener } from './commands.ts'
import { newHome } from './home.ts'

const service = serviceForSuite(sqlite)
const tenant = tenantForSuite(service)
const home = newHome()
after(home.drop)

const NOW = Date.parse('2026-01-10T12:00:00Z')
const read = (since?: string) => pastTime('since', { since }, NOW)

test('[CLI-53] a time in the past is a time, or how long ago it was', () => {
  assert.equal(read('90s'), '2026-01-10T11:58:30.000Z')
  assert.equal(read('30m'), '2026-01-10T11:30:00.000Z')
  assert.equal(read('1.5h'), '2026-01-10T10:30:00.000Z')
  assert.equal(read('2d'), '2026-01-08T12:00:00.000Z')
  assert.equal(read('0s'), '2026-01-10T12:00:00.000Z')
  assert.equal(read(undefined), undefined)
  // The service judges what looks like a time, and gets it as it was given.
  for (const time of ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.123456+02:00', '2026-01-01'])
    assert.equal(read(time), time)
  for (const wrong of ['', '2', 'h', '2w', '2 h', '-1h', '1h30m', 'yesterday', '9'.repeat(400) + 'd', '999999999d'])
    assert.throws(() => read(wrong), UsageError, wrong)
  assert.throws(() => read('yesterday'), {
    message:
      '--since takes a time such as 2026-01-01T00:00:00Z, or how long ago, such as 90s, 30m, 12h or 2d, not yesterday',
  })
})

const timed = commands.flatMap((one) =>
  ['--since <time>', '--until <time>'].filter((option) => option in optionsOf(one)).map((option) => ({ one, option })),
)
for (const { one, option } of timed) {
  const [name] = option.split(' ') as [string]
  const line = [...wordsOf(one), ...argumentsOf(one).flatMap((part) => (part.includes('...') ? [] : ['-']))]
  test(`[CLI-53] ${line.join(' ')} ${name} takes how long ago, and its help says so`, async () => {
    assert.match(optionsOf(one)[option]!, /, or how long ago: 30m, 12h, 2d$/)
    const env = { ...home.env, SENSORIUM_KEY: `ak_live_${'x'.repeat(32)}`, SENSORIUM_URL: 'http://127.0.0.1:1' }
    const { code, stderr } = await command([...line, name, 'yesterday'], env)
    assert.deepEqual([code, stderr.startsWith(`${name} takes a time such as `)], [2, true], stderr)
  })
}

test('[CLI-53] events, changes and memories of the last hour are found', async () => {
  const { json, agent } = await listener(service, tenant, home.env)
  await json('publish', 'com.past.first', '--id', 'past-1')
  await json('remember', 'Pump 7 runs hot', 'It was the valve.')
  const admin = { ...home.env, SENSORIUM_KEY: tenant.adminKey, SENSORIUM_URL: service.url }
  const run = async (env: Record<string, string>, ...words: string[]) =>
    JSON.parse((await command([...words, '--json'], env)).stdout)
  const events = (...words: string[]) => run(admin, 'events', 'list', '--sender', agent.id, ...words)
  assert.equal((await events('--since', '1h')).total, 1)
  assert.equal((await events('--until', '1h')).total, 0)
  const audit = ['tenant', 'audit', tenant.slug, '--limit', '1']
  assert.ok((await run(service.env, ...audit, '--since', '1h')).total > 0)
  assert.equal((await run(service.env, ...audit, '--until', '1h')).total, 0)
  const ofAgent = { ...home.env, SENSORIUM_KEY: agent.key, SENSORIUM_URL: service.url }
  const { stdout } = await command(['memories', 'export', '-', '--since', '1h'], ofAgent)
  assert.match(stdout, /Pump 7 runs hot/)
})
