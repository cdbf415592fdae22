// The commands of agents and people, against a real service.
import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { after, test } from 'node:test'
import { POSTED_TYPE } from '@sensorium/contract'
import { noneOf } from '../../src/cli/terminal/none.ts'
import { onBothEngines, sqlite } from '../support/engines.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { bash, COMMAND, command, sensorium } from '../support/process.ts'
import { serviceForSuite, tenantForSuite } from '../support/service.ts'
import { startReceiver, until } from '../outbound/tools.ts'
import { commandsOf, listener } from './commands.ts'
import { newHome } from './home.ts'

onBothEngines((engine) => {
  const service = serviceForSuite(engine, {}, fakeClock(Date.now()))
  const tenant = tenantForSuite(service)
  const home = newHome()
  after(home.drop)
  const { run, json } = commandsOf(() => home.env)

  test('[CLI-1] [CLI-2] [CLI-40] from signing in to an acknowledged event, with commands alone', async () => {
    const login = await sensorium(['login', '--url', service.url], { ...home.env, SENSORIUM_KEY: tenant.adminKey })
    assert.deepEqual([login.code, login.stderr], [0, ''])
    assert.match(login.stdout, /as an org-admin\.\nThe key is kept as profile default in /)
    assert.ok(!login.stdout.includes(tenant.adminKey))
    assert.equal(statSync(home.file).mode & 0o777, 0o600)

    const scopes = 'send,receive,interests:read,interests:write,memory:read,memory:write'
    const registered = await json('agents', 'register', 'Triage', '--scopes', scopes)
    assert.equal(registered.code, 0, registered.stderr)
    const { id, key } = registered.body
    const second = await bash(`echo "$KEY" | "$NODE" "$COMMAND" login --url "$URL" --profile triage --json`, {
      ...home.env,
      ...{ KEY: key.key, URL: service.url, NODE: process.execPath, COMMAND },
    })
    assert.deepEqual(JSON.parse(second.stdout), { profile: 'triage', url: service.url, agent: { id, name: 'Triage' } })

    assert.equal((await run('interests', 'create', 'com.plant.*', '--filter', 'data.celsius > 80')).code, 0)
    const hot = ['publish', 'com.plant.measured', '--id', 'hot', '--subject', 'pump/7', '--data', '{"celsius":93}']
    assert.deepEqual((await json(...hot)).body, { event_id: 'hot', status: 'accepted', recipients: 1 })
    assert.match((await run(...hot)).stdout, /^hot was published before/)

    const long = '{"order":12345678901234567890,"price":1.50}'
    assert.equal((await run('publish', 'com.shop.paid', '--id', 'long', '--data', long)).code, 0)
    const { text } = await service.call('GET /v1/events/long', { token: await tenant.token(key.key) })
    assert.ok(text.includes(`"data":${long}`), text)
    const traced = await run('trace', 'long', '--json')
    for (const digits of ['12345678901234567890', '1.50']) assert.ok(traced.stdout.includes(digits), traced.stdout)

    const polled = await json('poll')
    assert.equal(polled.body.count, 1)
    assert.deepEqual(polled.body.deliveries[0].payload.data, { celsius: 93 })
    assert.match((await run('ack', polled.body.deliveries[0].id)).stdout, /^1 of 1 acknowledged/)
    const token = await tenant.token(key.key)
    const trace = await json('trace', 'hot')
    assert.deepEqual(trace.body, (await service.call('GET /v1/events/hot', { token })).body)
    assert.match((await run('trace', 'hot')).stdout, new RegExp(`${id} +acknowledged +1 `))
    const why = await run('explain', 'com.plant.measured', '--data', '{"celsius":41}', '--agent', id)
    assert.match(
      why.stdout,
      /^Nobody would receive it\.[^]*would not receive it:\n {2}no {3}interest .*the filter is false/,
    )
  })

  test('[CLI-1] a memory is recalled by its meaning, and related', async () => {
    const one = await json(
      'remember',
      'Pump 7 runs hot',
      'Above 90 degrees it is the coolant valve.',
      '--importance',
      '0.9',
    )
    const two = await json('remember', 'The valve was replaced', 'In the spring.', '--type', 'episodic')
    assert.deepEqual([one.body.importance, two.body.type], [0.9, 'episodic'])
    const related = await json('relate', one.body.id, two.body.id, '--type', 'caused_by', '--strength', '0.5')
    assert.equal(related.body.strength, 0.5)
    const found = await run('recall', 'Pump 7 runs hot', '--limit', '1', '--explain')
    assert.match(found.stdout, /^\d\.\d\d {2}Pump 7 runs hot\n {6}Above 90 degrees/)
    assert.match((await run('memories', 'show', one.body.id)).stdout, /caused by +The valve was replaced/)
  })

  test('[CLI-3] exit codes say what kind of failure it was', async () => {
    const refused = await run('keys', 'list')
    assert.deepEqual([refused.code, refused.stdout], [3, ''])
    assert.match(refused.stderr, /scope admin/)
    const missing = await json('trace', 'nothing')
    assert.deepEqual([missing.code, missing.body.error.code], [4, 'not_found'])
    assert.equal((await run('publish', '', '--data', '1')).code, 1)
    const none = await run('poll', '--limit', '0')
    assert.equal(none.stderr, 'limit: expected an integer from 1 to 100\nExample: 10\n', 'said once')
    assert.equal((await run('publish', 'a', '--data', '{')).code, 2)
    const wrong = await command(['login', '--url', service.url], {
      ...home.env,
      SENSORIUM_KEY: `ak_live_${'x'.repeat(32)}`,
    })
    assert.equal(wrong.code, 3)
    assert.match(wrong.stderr, /^The API key in SENSORIUM_KEY is unknown at http:\S+, revoked or expired/)
    const malformed = { ...home.env, SENSORIUM_KEY: 'ak_live_short' }
    assert.equal((await command(['login', '--url', service.url], malformed)).code, 3)
    assert.equal((await json('profiles', 'list')).body.profiles.length, 2, 'nothing was kept')
    assert.match(readFileSync(home.file, 'utf8'), /"current": "triage"/)
  })
})

const service = serviceForSuite(sqlite, { PUSH_ALLOW_PRIVATE: 'on' }, fakeClock(Date.now()))
const tenant = tenantForSuite(service)
const home = newHome()
after(home.drop)

test('[CLI-32] an agent is registered with an external id, and pushes to it are set up', async () => {
  const admin = commandsOf(() => ({ ...home.env, SENSORIUM_KEY: tenant.adminKey, SENSORIUM_URL: service.url }))
  const { id, external_id } = (await admin.json('agents', 'register', 'Pushed', '--external-id', 'pushed')).body
  assert.equal(external_id, 'pushed')
  const endpoint = 'https://agent.example/inbox'
  const shown = await admin.run('agents', 'update', id, '--mode', 'push', '--endpoint', endpoint)
  assert.match(shown.stdout, /receives by +push\nendpoint +https:\/\/agent\.example\/inbox/)
  assert.match((await admin.json('keys', 'push-secret', '--agent', id)).body.push_secret, /^whsec_/)
  assert.match(
    (await admin.run('keys', 'push-secret', '--agent', id)).stdout,
    /^Push secret \(shown this once\): {2}whsec_/,
  )
  const { body } = await admin.json('agents', 'update', id, '--mode', 'poll', '--endpoint', '')
  assert.deepEqual([body.delivery_mode, body.delivery_endpoint ?? null], ['poll', null])
  assert.equal((await admin.run('agents', 'update', id)).code, 2)
  const again = await admin.run('agents', 'register', 'Pushed', '--external-id', 'pushed')
  assert.equal(again.code, 1)
  assert.match(again.stderr, new RegExp(`\nExisting: ${id}\n`))
})

test('[CLI-34] an org-admin learns that a key of the agent creates its interests', async () => {
  const admin = commandsOf(() => ({ ...home.env, SENSORIUM_KEY: tenant.adminKey, SENSORIUM_URL: service.url }))
  const { code, stderr } = await admin.run('interests', 'create', 'com.plant.*')
  assert.equal(code, 2)
  assert.match(stderr, /Sign in with a key of the agent/)
})

test('[CLI-52] where nobody would receive an event, explain says how to learn why', async () => {
  const lonely = await service.tenant()
  const agent = await lonely.agent()
  const of = (key: string) => commandsOf(() => ({ ...home.env, SENSORIUM_KEY: key, SENSORIUM_URL: service.url }))
  const own = await of(agent.key).run('explain', 'com.example.heard')
  assert.equal(
    own.stdout,
    `Nobody would receive it.\n\`--agent ${agent.id}\` explains why you would or would not receive it.\n`,
  )
  const { stdout } = await of(lonely.adminKey).run('explain', 'com.example.heard')
  assert.equal(
    stdout,
    'Nobody would receive it.\n`--agent <id>` explains why an agent would or would not receive it.\n',
  )
  const why = await of(agent.key).run('explain', 'com.example.heard', '--agent', agent.id)
  assert.match(why.stdout, /^Nobody would receive it\.\n\nagt_\w+ would not receive it:\n/)
})

test('[CLI-1] an agent is paused and resumed, and the audit log shows it', async () => {
  const { agent, json, queue } = await listener(service, tenant, home.env)
  const admin = commandsOf(() => ({ ...home.env, SENSORIUM_KEY: tenant.adminKey, SENSORIUM_URL: service.url }))
  assert.deepEqual((await admin.json('agents', 'pause', agent.id)).body, { paused: true })
  await json('publish', 'com.example.waits')
  assert.deepEqual((await json('poll')).body.deliveries, [])
  assert.match((await admin.run('agents', 'resume', agent.id)).stdout, /receives again/)
  assert.equal((await json('poll')).body.deliveries.length, 1)
  assert.equal((await queue()).leased, 1)
  const { body } = await admin.json('audit', '--action', 'pauseAgent')
  assert.deepEqual(
    body.entries.map((entry: { resource: string }) => entry.resource),
    [agent.id],
  )
  assert.match((await admin.run('audit', '--limit', '1')).stdout, /^when +who +action +what +request +details\n/)
})

test('[CLI-56] the audit log shows what was changed, without what it shows already', async () => {
  const admin = commandsOf(() => ({ ...home.env, SENSORIUM_KEY: tenant.adminKey, SENSORIUM_URL: service.url }))
  const { id } = (await admin.json('agents', 'register', 'Gauge')).body
  const { key, id: keyId } = (await admin.json('keys', 'mint', '--agent', id, '--scopes', 'send,receive')).body
  const { stdout } = await admin.run('audit', '--action', 'mintKey', '--limit', '1')
  const [head, row] = stdout.split('\n') as [string, string]
  assert.match(
    row.slice(head.indexOf('details')),
    new RegExp(`^id: ${id}, scopes: \\["send","receive"\\], actor_key_id: key_`),
  )
  assert.ok(row.includes(keyId) && !stdout.includes(key))
  const paused = await admin.run('agents', 'pause', id).then(() => admin.run('audit', '--limit', '1'))
  assert.match(paused.stdout, new RegExp(`pauseAgent +${id} +req_\\w+ +actor_key_id: key_\\w+\n`), 'the id once')
  const { body } = await admin.json('audit', '--action', 'mintKey', '--limit', '1')
  assert.partialDeepStrictEqual(body.entries[0].details, { id, scopes: ['send', 'receive'] }, 'JSON has all')
})

test('[CLI-35] what keeps an agent from receiving is shown: a pause, or an endpoint that fails', async (t) => {
  const { agent, run } = await listener(service, tenant, home.env)
  const admin = commandsOf(() => ({ ...home.env, SENSORIUM_KEY: tenant.adminKey, SENSORIUM_URL: service.url }))
  const shown = async (): Promise<string> => (await admin.run('agents', 'show', agent.id)).stdout
  assert.match(await shown(), /^status +active\n/m)
  assert.doesNotMatch(await shown(), /^(?:last s|failures|last error|breaker)/m)
  const receiver = await startReceiver()
  t.after(receiver.stop)
  receiver.answer = () => 503
  await run('agents', 'update', agent.id, '--mode', 'push', '--endpoint', receiver.url)
  assert.match(await shown(), /^last success +never\n$/m)
  await run('publish', 'com.example.pushed')
  const failed = await until(async () => /^last success.*\n(?:.+\n)+$/m.exec(await shown())?.[0])
  const lines = ['last success never', 'last status 503', 'failures 1 in a row', 'last error HTTP 503', '']
  assert.deepEqual(failed.replaceAll(/ +/g, ' ').split('\n'), lines)
  await admin.run('agents', 'pause', agent.id)
  assert.match(await shown(), /^status +active, paused\n/m)
  assert.match((await admin.run('agents', 'list')).stdout, new RegExp(`^${agent.id} .* active, paused +push `, 'm'))
})

test('[CLI-36] a list or search that a filter or an offset leaves empty does not claim that there is nothing', async () => {
  const { agent, run } = await listener(service, tenant, home.env)
  const said = async (...args: string[]): Promise<string> => (await run(...args)).stdout
  assert.equal(await said('dlq', 'list', '--limit', '5'), 'The dead-letter queue is empty.\n')
  assert.equal(await said('dlq', 'list', '--offset', '0'), 'The dead-letter queue is empty.\n')
  assert.equal(noneOf({ offset: '0', limit: '5' }, 'nothing', 'in part'), 'nothing', 'of the operator they are texts')
  assert.equal(await said('memories', 'list', '--offset', '0'), 'Nothing is remembered.\n')
  assert.equal(await said('recall', 'valve', '--limit', '5', '--explain'), 'Nothing like it is remembered.\n')
  await run('publish', 'com.example.refused')
  const { deliveries } = (await service.call('GET /v1/delivery/poll', { token: agent.token })).body
  await run('nack', deliveries[0].id, '--dead-letter', '--reason', 'no rule')
  await run('remember', 'Valve 4', 'It sticks.')
  assert.equal(await said('dlq', 'list', '--type', 'com.other.*'), 'No dead letter fits.\n')
  assert.equal(await said('dlq', 'list', '--offset', '1'), 'No dead letter fits.\n')
  assert.equal(await said('memories', 'list', '--search', 'pump'), 'No memory fits.\n')
  assert.equal(await said('recall', 'valve', '--type', 'procedural'), 'No memory fits.\n')
  assert.equal(await said('recall', 'valve', '--min-score', '1'), 'No memory fits.\n')
  assert.equal(await said('agents', 'list', '--offset', '1000'), 'No agent fits.\n')
  assert.equal(await said('channels', 'list', '--offset', '1000'), 'No channel fits.\n')
  assert.equal(await said('events', 'types', '--offset', '1000'), 'No type fits.\n')
  const admin = { ...home.env, SENSORIUM_KEY: tenant.adminKey, SENSORIUM_URL: service.url }
  assert.equal((await command(['audit', '--action', 'deleteTenant'], admin)).stdout, 'No change fits.\n')
})

test('[CLI-1] channels, members, feeds and keys', async () => {
  const env = { ...home.env, SENSORIUM_KEY: tenant.adminKey, SENSORIUM_URL: service.url }
  const { run, json } = commandsOf(() => env)
  const agent = await tenant.agent({ name: 'Member' })
  const { id } = (await json('channels', 'create', 'alerts', '--type', 'private')).body
  assert.match(
    (await run('channels', 'members', id, '--add', agent.id)).stdout,
    new RegExp(`${agent.id} +agent +member`),
  )
  assert.match(
    (await run('channels', 'feeds', id, '--add', 'com.github.*', '--filter', 'data.n > 1')).stdout,
    /com\.github\.\* +data\.n > 1/,
  )
  assert.deepEqual(Object.keys((await json('channels', 'show', id)).body), ['channel', 'members', 'feeds'])
  const posted = (await json('channels', 'post', id, 'Who is on call?', '--reply-to', agent.id)).body
  const { event, deliveries } = (await json('trace', posted.event_id)).body
  assert.deepEqual(
    [event.type, event.recipient, event.replyto, event.data],
    [POSTED_TYPE, id, agent.id, { text: 'Who is on call?' }],
  )
  const received = deliveries.find((delivery: { agent_id: string }) => delivery.agent_id === agent.id)
  assert.deepEqual(received.matched, [{ kind: 'recipient', id }])
  for (const other of [agent.id, 'alerts']) {
    const refused = await run('channels', 'post', other, 'Who is on call?')
    assert.deepEqual([refused.code, refused.stderr], [4, 'There is no such channel\n'])
  }
  assert.match((await run('channels', 'delete', id)).stdout, /is deleted, with its members and feeds\.$/m)
  assert.equal((await run('channels', 'show', id)).code, 4)
  const direct = await run('publish', 'com.plant.note', '--recipient', agent.id)
  assert.match(direct.stdout, /reached \d mailbox/)
  assert.equal((await run('publish', 'com.plant.note', '--recipient', 'agt_none')).code, 4)
  const minted = await json('keys', 'mint', '--agent', agent.id, '--scopes', 'send, receive')
  assert.deepEqual(minted.body.scopes, ['send', 'receive'])
  assert.equal((await run('keys', 'revoke', minted.body.id, '--agent', agent.id)).code, 0)
  assert.equal((await command(['whoami'], { ...env, SENSORIUM_KEY: minted.body.key })).code, 3)
  const nobody = await run('keys', 'list')
  assert.deepEqual([nobody.code, nobody.stderr], [2, "This is an org-admin's key. Name the agent with --agent <id>\n"])
})

test('[CLI-2][CLI-3] logout forgets the key; without one, or without a service, commands say so', async () => {
  const { run } = commandsOf(() => home.env)
  const signIn = await command(['login', '--url', service.url], { ...home.env, SENSORIUM_KEY: tenant.adminKey })
  assert.equal(signIn.code, 0)
  assert.match((await run('logout')).stdout, /^The key of profile default .* is forgotten/)
  assert.ok(!readFileSync(home.file, 'utf8').includes(tenant.adminKey))
  const out = await run('whoami')
  assert.deepEqual(
    [out.code, out.stderr],
    [3, 'You are not signed in. `sensorium login` keeps a key, or set SENSORIUM_KEY.\n'],
  )
  assert.equal((await run('logout')).code, 4)
  const away = { ...home.env, SENSORIUM_KEY: tenant.adminKey, SENSORIUM_URL: 'http://127.0.0.1:2' }
  const { code, stderr } = await sensorium(['whoami'], away)
  assert.equal(code, 5)
  assert.match(stderr, /: the connection to 127\.0\.0\.1:2 failed \(ECONNREFUSED\)\. Is the service running there\?/)
})
