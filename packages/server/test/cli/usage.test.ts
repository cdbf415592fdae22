// How the command line is called, and what it prints when it is called wrongly.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { exitCodeFor } from '../../src/cli/exit-codes.ts'
import { sqlite } from '../support/engines.ts'
import { bash, COMMAND, command, sensorium } from '../support/process.ts'
import { makeStore } from '../support/store.ts'

let env: Record<string, string>
let drop: () => Promise<void>
before(async () => ({ env, drop } = await sqlite.fresh()))
after(() => drop())

for (const args of [[], ['help'], ['--help'], ['-h', '--json']]) {
  test(`[TEN-6][CLI-5] sensorium ${args.join(' ')} prints how to use it`, async () => {
    const { code, stdout, stderr } = await command(args, env)
    assert.deepEqual([code, stderr], [0, ''])
    for (const word of ['start', 'tenant', 'admin-key', 'usage', 'doctor', 'backup', 'restore', 'publish', 'listen'])
      assert.ok(stdout.includes(word), word)
  })
}

for (const args of [
  ['tenant', 'create', '--help'],
  ['help', 'tenant', 'create'],
  ['tenant', 'create', 'acme', '-h'],
]) {
  test(`[CLI-5] sensorium ${args.join(' ')} prints how that command is used`, async () => {
    const { code, stdout, stderr } = await command(args, env)
    assert.deepEqual([code, stderr], [0, ''])
    assert.match(
      stdout,
      /Usage: sensorium tenant create <slug> \[options\]\n[^]*--name <text>[^]*\$ sensorium tenant create/,
    )
  })
}

const MISUSES: [string[], RegExp][] = [
  [['tenant'], /tenant create <slug>[^]*tenant list/],
  [['frobnicate'], /There is no command frobnicate\. `sensorium help`/],
  [['--nope'], /^Name a command first, and options after it\. `sensorium help`/],
  [['--profile', 'work', 'whoami'], /^Name a command first, and options after it\./],
  [['doctr'], /There is no command doctr\. Did you mean `sensorium doctor`\?/],
  [['tenants', 'list'], /Did you mean `sensorium tenant list`\?/],
  [['strat'], /Did you mean `sensorium start`\?/],
  [['tenant', 'create'], /^Usage: sensorium tenant create <slug>/],
  [['tenant', 'create', 'a', 'b'], /^Usage: sensorium tenant create <slug>/],
  [['tenant', 'create', 'a', '--nmae', 'A'], /--nmae[^]*Usage: sensorium tenant create/],
  [['backup'], /^Usage: sensorium backup <file>/],
  [['webhook', 'create', '--source', 'x'], /^--tenant <slug> is missing$/m],
  [['webhook', 'create', '--tenant', 'x'], /^--source <name> or --preset <github\|stripe\|standard> is missing$/m],
  [['connector', 'create', '--tenant', 'x', '--source', 'x'], /^--address <queue> is missing$/m],
  [
    ['connector', 'create', '--tenant', 'x', '--source', 'x', '--address', 'q'],
    /^--url - \(read from standard input\) or CONNECTOR_URL is missing$/m,
  ],
]
for (const [args, message] of MISUSES) {
  test(`[TEN-6][CLI-3] sensorium ${args.join(' ')} says what would be right, with exit code 2`, async () => {
    const { code, stdout, stderr } = await command(args, env)
    assert.deepEqual([code, stdout], [2, ''])
    assert.match(stderr, message)
    const told = await command([...args, '--json'], env)
    assert.equal(told.code, 2)
    assert.equal(JSON.parse(told.stdout).error.code, 'validation_failed')
  })
}

test('[CLI-3] the code of an error decides the exit code', () => {
  const codes = ['authentication_failed', 'insufficient_scope', 'not_found', 'rate_limited', 'service_unavailable']
  assert.deepEqual(codes.map(exitCodeFor), [3, 3, 4, 5, 5])
  for (const code of ['conflict', 'validation_failed', 'business_rule_violation', 'internal_error'])
    assert.equal(exitCodeFor(code), 1)
})

test('[CFG-1] a wrong environment is reported with every wrong variable', async () => {
  const wrong = { ...env, PORT: 'x', MAX_ATTEMPTS: '0' }
  const { code, stderr } = await sensorium(['tenant', 'list'], wrong)
  assert.equal(code, 1)
  assert.match(stderr, /PORT takes[^]*MAX_ATTEMPTS takes/)
  const told = JSON.parse((await command(['tenant', 'list', '--json'], wrong)).stdout)
  assert.match(told.error.details.expected, /PORT takes[^]*MAX_ATTEMPTS takes/)
})

test('[TEN-6] a store that cannot be reached is reported in a sentence, and as 503 in JSON', async () => {
  const away = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none', SENSORIUM_SECRET: 'a-master-secret-for-the-tests' }
  const { code, stderr } = await sensorium(['tenant', 'list'], away)
  assert.equal(code, 5)
  assert.match(stderr, /^The store cannot be reached or takes no writes: .*ECONNREFUSED/)
  assert.equal(JSON.parse((await command(['tenant', 'list', '--json'], away)).stdout).error.code, 'service_unavailable')
})

test('[CFG-9] the command can be run directly, also with a Node.js that is too old', async (t) => {
  await makeStore(env)
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

for (const flag of ['version', '--version', '-V']) {
  test(`[STO-14] sensorium ${flag} prints the version`, async () => {
    const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
    const { version } = JSON.parse(manifest) as { version: string }
    assert.deepEqual(await sensorium([flag], env), { code: 0, stdout: `${version}\n`, stderr: '' })
  })
}

test('[STO-14] a command without a store says so and creates none', async () => {
  const folder = path.join(env['DATA_DIR']!, 'mistyped')
  for (const args of [
    ['tenant', 'list'],
    ['tenant', 'create', 'acme'],
    ['usage', 'acme'],
  ]) {
    const { code, stdout, stderr } = await command(args, { ...env, DATA_DIR: folder })
    assert.deepEqual([code, stdout], [1, ''])
    assert.ok(stderr.startsWith(`There is no store in ${folder}.`), stderr)
  }
  assert.equal(existsSync(folder), false)
})

test('[STO-14] a secret comes from standard input or the environment, not from the command line', async () => {
  await makeStore(env)
  const inherited = { ...env, NODE: process.execPath, COMMAND }
  const made = await bash('"$NODE" "$COMMAND" tenant create acme --json', inherited)
  assert.equal(made.code, 0, made.stderr)
  const fromInput = await bash(
    `printf 'amqps://user:pa55word@broker.example:5671\\n' | "$NODE" "$COMMAND" connector create --tenant acme --source erp --url - --address q --json`,
    inherited,
  )
  assert.equal(fromInput.code, 0, fromInput.stdout)
  assert.match(JSON.parse(fromInput.stdout).connector.url, /^amqps:\/\/(?!.*pa55word).*broker\.example/)
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  const fromEnvironment = await sensorium(['webhook', 'create', '--tenant', 'acme', '--source', 'shop', '--json'], {
    ...env,
    WEBHOOK_SIGNING_SECRET: secret,
  })
  const { webhook, signing_secret } = JSON.parse(fromEnvironment.stdout)
  assert.equal(signing_secret, secret)
  const next = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
  const rotated = await bash(
    `printf '${next}\\n' | "$NODE" "$COMMAND" webhook rotate ${webhook.id} --signing-secret - --json`,
    inherited,
  )
  assert.equal(JSON.parse(rotated.stdout).signing_secret, next)
})
