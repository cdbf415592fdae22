// How the command line is called, and what it says when it is called wrongly.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { after, before, test } from 'node:test'
import { sqlite } from '../support/engines.ts'
import { bash, COMMAND, sensorium } from '../support/process.ts'

let env: Record<string, string>
let drop: () => Promise<void>
before(async () => ({ env, drop } = await sqlite.fresh()))
after(() => drop())

for (const args of [[], ['help'], ['--help'], ['tenant', 'create', '--help']]) {
  test(`[TEN-6] sensorium ${args.join(' ')} prints how to use it`, async () => {
    const { code, stdout, stderr } = await sensorium(args, env)
    assert.deepEqual([code, stderr], [0, ''])
    for (const command of [
      'start',
      'tenant create <slug>',
      'tenant list',
      'admin-key create <slug>',
      'admin-key list <slug>',
      'admin-key revoke <slug> <key-id>',
      'usage <slug>',
      'doctor',
      'backup <file>',
      'restore <file>',
    ]) {
      assert.ok(stdout.includes(`sensorium ${command}`), command)
    }
  })
}

const MISUSES: [string[], RegExp][] = [
  [['tenant'], /tenant create <slug>[^]*tenant list/],
  [['frobnicate'], /There is no command frobnicate/],
  [['tenant', 'create'], /^Usage: sensorium tenant create <slug>/],
  [['tenant', 'create', 'a', 'b'], /^Usage: sensorium tenant create <slug>/],
  [['tenant', 'create', 'a', '--nmae', 'A'], /--nmae[^]*Usage: sensorium tenant create/],
  [['backup'], /^Usage: sensorium backup <file>/],
]
for (const [args, message] of MISUSES) {
  test(`[TEN-6] sensorium ${args.join(' ')} says what would be right, with exit code 1`, async () => {
    const { code, stdout, stderr } = await sensorium(args, env)
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, message)
    const told = await sensorium([...args, '--json'], env)
    assert.equal(told.code, 1)
    assert.equal(JSON.parse(told.stdout).error.code, 'validation_failed')
  })
}

test('[CFG-1] a wrong environment is told with every variable that is wrong', async () => {
  const wrong = { ...env, PORT: 'x', MAX_ATTEMPTS: '0' }
  const { code, stderr } = await sensorium(['tenant', 'list'], wrong)
  assert.equal(code, 1)
  assert.match(stderr, /PORT takes[^]*MAX_ATTEMPTS takes/)
  const told = JSON.parse((await sensorium(['tenant', 'list', '--json'], wrong)).stdout)
  assert.match(told.error.details.expected, /PORT takes[^]*MAX_ATTEMPTS takes/)
})

test('[TEN-6] a store that cannot be reached is a sentence, and 503 in JSON', async () => {
  const away = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none', SENSORIUM_SECRET: 'a-master-secret-for-the-tests' }
  const { code, stderr } = await sensorium(['tenant', 'list'], away)
  assert.equal(code, 1)
  assert.match(stderr, /^The store cannot be reached: .*ECONNREFUSED/)
  assert.equal(
    JSON.parse((await sensorium(['tenant', 'list', '--json'], away)).stdout).error.code,
    'service_unavailable',
  )
})

test('[CFG-9] the command runs by itself, on a Node that is too old as well', async (t) => {
  assert.equal(
    (await bash(`'${COMMAND}' help`, { PATH: `${process.execPath.replace(/\/node$/, '')}:/usr/bin:/bin` })).code,
    0,
  )
  const old = ['/usr/bin/node', '/usr/local/bin/node'].find((node) => {
    try {
      return Number(execFileSync(node, ['-p', 'process.versions.node.split(".")[0]'], { encoding: 'utf8' })) < 24
    } catch {
      return false
    }
  })
  if (!old) return t.diagnostic('no older Node here to try it on')
  assert.equal((await sensorium(['tenant', 'create', 'old-node'], env, old)).code, 0)
  assert.equal((await sensorium(['tenant', 'create', 'old-node'], env, old)).code, 1, 'the exit code is passed on')
})
