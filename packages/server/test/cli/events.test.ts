// The commands about events and dead letters, against a real service.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { sqlite } from '../support/engines.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { command, sensorium, startSensorium } from '../support/process.ts'
import { serviceForSuite, tenantForSuite } from '../support/service.ts'
import { commandsOf, listener } from './commands.ts'
import { newHome } from './home.ts'

const service = serviceForSuite(sqlite, {}, fakeClock(Date.now()))
const tenant = tenantForSuite(service)
const home = newHome()
after(home.drop)

test('[CLI-7] listen prints deliveries, and acknowledges them with --ack; without it they are given back', async () => {
  const { env, queue, json } = await listener(service, tenant, home.env)
  const watching = startSensorium(['listen', '--json'], env)
  await json('publish', 'com.example.first', '--id', 'listen-1')
  const [line] = await watching.printed(/^\{.*"event_id":"listen-1".*\}$/m)
  assert.equal(JSON.parse(line).payload.type, 'com.example.first')
  assert.equal((await queue()).leased, 1)
  watching.kill('SIGINT')
  assert.equal((await watching.ended).code, 0)
  assert.partialDeepStrictEqual(await queue(), { leased: 0, pending: 1 })

  await service.clock.advance(2_000)
  const acking = startSensorium(['listen', '--ack', '--count', '2'], env)
  await acking.printed(/com\.example\.first {2}from \/agents\/.* {2}attempt 2\n/)
  await json('publish', 'com.example.second', '--id', 'listen-2', '--data', '"\\u001b]0;mine\\u0007"')
  const { code, stdout } = await acking.ended
  assert.equal(code, 0)
  assert.match(stdout, /com\.example\.second/)
  assert.ok(!stdout.includes('\u001b'), 'nothing of the data is taken for a command to the terminal')
  assert.partialDeepStrictEqual(await queue(), { leased: 0, pending: 0 })
})

test('[CLI-7] publish sets the attributes that a reply needs', async () => {
  const { env, json } = await listener(service, tenant, home.env)
  const attributes = ['--reply-to', 'agt_1', '--correlation-id', 'question-1', '--time', '2026-01-02T03:04:05Z']
  await json('publish', 'com.example.asked', '--id', 'cause-1')
  await json('publish', 'com.example.replied', '--id', 'reply-1', '--cause', 'cause-1', ...attributes)
  const { stdout } = await command(['listen', '--ack', '--count', '2', '--json'], env)
  const payload = stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).payload)[1]
  assert.partialDeepStrictEqual(payload, {
    id: 'reply-1',
    replyto: 'agt_1',
    correlationid: 'question-1',
    causationid: 'cause-1',
    time: '2026-01-02T03:04:05Z',
  })
})

test('[CLI-31] listen and events watch end when nobody responds at their address', async () => {
  const env = { ...home.env, SENSORIUM_KEY: `ak_live_${'x'.repeat(32)}`, SENSORIUM_URL: 'http://127.0.0.1:1' }
  for (const words of [['listen'], ['events', 'watch']]) {
    const { code, stderr } = await command([...words, '--count', '1'], env)
    assert.equal(code, 5)
    assert.match(stderr, /Is the service running there\?/)
  }
})

test('[CLI-37] an org-admin watches events as they are accepted, and an agent may not', async () => {
  const { env, json } = await listener(service, tenant, home.env)
  const admin = { ...home.env, SENSORIUM_KEY: tenant.adminKey, SENSORIUM_URL: service.url }
  const watching = startSensorium(['events', 'watch', '--type', 'com.watch.*', '--filter', 'data.n > 1'], admin)
  // Events before the stream is open are missed.
  for (let n = 0; n < 60 && !watching.output().includes('com.watch.high'); n++) {
    await json('publish', 'com.watch.low', '--id', `low-${n}`, '--data', '{"n":1}')
    await json('publish', 'com.watch.high', '--id', `high-${n}`, '--subject', 'pump/7', '--data', '{"n":2}')
    await service.clock.advance(1_000)
  }
  watching.kill('SIGINT')
  const { code, stdout } = await watching.ended
  assert.match(stdout, /^com\.watch\.high {2}pump\/7 from .*\n {2}\{"n":2\}\n {2}event high-\d+ {2}\d+ recipients? {2}/)
  assert.deepEqual([code, stdout.includes('com.watch.low')], [0, false])
  const refused = await command(['events', 'watch'], env)
  assert.equal(refused.code, 3)
})

test('[CLI-37] events watch ends after --count events, and says how many it left out', async () => {
  const { agent, env, json } = await listener(service, tenant, home.env)
  const admin = { ...env, SENSORIUM_KEY: tenant.adminKey }
  const watch = (...more: string[]) =>
    startSensorium(['events', 'watch', '--type', 'com.burst.*', '--json', ...more], admin)
  const [one, all] = [watch('--count', '1'), watch()]
  // Events before a stream is open are missed. A command takes a while.
  let isOver = false
  const ended = one.ended.finally(() => (isOver = true))
  for (let n = 0; n < 60 && !(isOver && all.output().includes('com.burst.first')); n++) {
    await json('publish', 'com.burst.first', '--id', `first-${n}`)
    await service.clock.advance(1_000)
  }
  one.kill('SIGKILL') // does nothing to one that has ended
  const { code: first, stdout: printed } = await ended
  assert.deepEqual([first, printed.trim().split('\n').length], [0, 1])

  for (const [batch, events] of [100, 100, 20].entries()) {
    const body = Array.from({ length: events }, (_, i) => ({
      specversion: '1.0',
      id: `burst-${batch}-${i}`,
      type: 'com.burst.many',
      source: '/burst',
    }))
    const headers = { 'content-type': 'application/cloudevents-batch+json' }
    const sent = await service.call('POST /v1/events', { token: agent.token, headers, body })
    assert.equal(sent.status, 200, sent.text)
  }
  for (let n = 0; n < 10 && !all.output().includes('com.burst.last'); n++) {
    await service.clock.advance(1_000)
    await json('publish', 'com.burst.last', '--id', `last-${n}`)
  }
  all.kill('SIGINT')
  const { code, stdout, stderr } = await all.ended
  assert.match(stderr, /^20 more in this second, or too many to look at$/m)
  assert.deepEqual([code, stdout.match(/com\.burst\.many/g)?.length], [0, 200])
})

test('[CLI-1] a lease is extended', async () => {
  const { run, json } = await listener(service, tenant, home.env)
  await json('publish', 'com.example.slow', '--id', 'extended-1')
  const [delivery] = (await json('poll')).body.deliveries
  assert.match((await run('extend', delivery.id, '--seconds', '300')).stdout, /^1 of 1 extended\.$/m)
  await service.clock.advance(200_000)
  assert.deepEqual((await json('poll')).body.deliveries, [])
  assert.deepEqual((await json('extend', delivery.id)).body, { extended: 1 })
  await json('ack', delivery.id)
  const late = await run('extend', delivery.id)
  assert.deepEqual([late.code, late.stdout], [1, '0 of 1 extended. The rest is not leased to you.\n'])
})

test('[CLI-1] an org-admin searches events and lists their types', async () => {
  const { agent, json } = await listener(service, tenant, home.env)
  await json('publish', 'com.search.first', '--id', 'search-1', '--subject', 'pump/7')
  await json('publish', 'com.search.second', '--id', 'search-2')
  const admin = commandsOf(() => ({ ...home.env, SENSORIUM_KEY: tenant.adminKey, SENSORIUM_URL: service.url }))
  const found = await admin.run('events', 'list', '--type', 'com.search.*', '--sender', agent.id)
  assert.match(
    found.stdout,
    /^id +type +subject +sender +recipients +accepted\nsearch-2 [^]*\nsearch-1 [^]*\n2 of 2\n$/,
  )
  const { events } = (await admin.json('events', 'list', '--subject', 'pump/7', '--id', 'search-1')).body
  assert.deepEqual([events.length, events[0].type], [1, 'com.search.first'])
  assert.equal((await admin.run('events', 'list', '--cause', 'search-1')).stdout, 'No event fits.\n')
  assert.match(
    (await admin.run('events', 'types')).stdout,
    /^type +events +listeners +last\n[^]*com\.search\.second +1 +\d/,
  )
  assert.equal((await json('events', 'list')).code, 3, 'an agent is refused')
})

test('[CLI-1] dead letters are listed, shown and put back', async () => {
  const { agent, run, json, queue } = await listener(service, tenant, home.env)
  await json('publish', 'com.example.broken', '--id', 'broken-1')
  const [{ id }] = (await json('poll')).body.deliveries
  assert.equal((await run('nack', id, '--dead-letter', '--reason', 'the ledger is closed')).code, 0)
  assert.match(
    (await run('dlq', 'list')).stdout,
    /^id +event +type +attempts +reason +since\n.* broken-1 .*the ledger is closed.*\n1 of 1\n$/,
  )
  const admin = commandsOf(() => ({ ...home.env, SENSORIUM_KEY: tenant.adminKey, SENSORIUM_URL: service.url }))
  assert.match((await admin.run('dlq', 'list')).stdout, new RegExp(`^id +event +agent [^]* broken-1 +${agent.id} `))
  assert.equal((await json('dlq', 'show', id)).body.event_id, 'broken-1')
  assert.equal((await run('dlq', 'show', 'dlv_nothing')).code, 4)
  assert.equal((await run('dlq', 'replay')).code, 2)
  const both = await run('dlq', 'replay', id, '--all')
  assert.deepEqual([both.code, /only one of the three/.test(both.stderr)], [2, true])
  assert.deepEqual((await json('dlq', 'replay', '--all', '--dry-run')).body, { matched: 1, replayed: 0 })
  const named = await json('dlq', 'discard', id, 'dlv_nothing', '--dry-run')
  assert.deepEqual(named.body, { matched: 1, discarded: 0 }, 'one of the two is a dead letter')
  assert.equal((await queue()).pending, 0)
  assert.deepEqual((await json('dlq', 'replay', '--all')).body, { matched: 1, replayed: 1 })
  assert.equal((await queue()).pending, 1)
})

test('[CLI-1] dead letters that match a filter are put back or deleted, and the rest stays', async () => {
  const { run, json, queue } = await listener(service, tenant, home.env)
  for (const [id, reason] of [
    ['one', 'no rule for it'],
    ['two', 'no rule for it'],
    ['three', 'the ledger is closed'],
  ] as const) {
    await json('publish', 'com.example.broken', '--id', id)
    const [delivery] = (await json('poll')).body.deliveries
    await run('nack', delivery.id, '--dead-letter', '--reason', reason)
  }
  assert.equal((await json('dlq', 'list', '--reason', 'ledger')).body.total, 1)
  assert.deepEqual((await json('dlq', 'discard', '--reason', 'ledger')).body, { matched: 1, discarded: 1 })
  const replayed = await run('dlq', 'replay', '--type', 'com.example.*', '--reason', 'NO RULE')
  assert.deepEqual([replayed.code, replayed.stdout], [0, '2 dead letters were put back into the mailbox.\n'])
  assert.partialDeepStrictEqual(await queue(), { pending: 2, dead_lettered: 0 })
  assert.equal((await run('dlq', 'discard', '--all')).stdout, 'There are no such dead letters.\n')
  const gone = await run('dlq', 'discard', 'dlv_01hv3k8z9q4m7t2x5c6w8r0s1d')
  assert.deepEqual([gone.code, gone.stdout], [1, '0 dead letters were deleted. 1 of 1 was not found.\n'])
})

test('[CLI-1][CLI-9] a file of events is published in batches; each event is judged alone', async () => {
  const { env, json, queue } = await listener(service, tenant, home.env)
  const file = path.join(env['HOME']!, 'events.ndjson')
  const lines = Array.from({ length: 120 }, (_, i) => JSON.stringify({ type: 'com.example.read', id: `read-${i}` }))
  writeFileSync(file, lines.join('\n'))
  const { code, stdout, stderr } = await sensorium(['publish', '--file', file], env)
  assert.deepEqual([code, stdout], [0, '120 accepted, 0 known already, 0 refused.\n'])
  assert.match(stderr, /100% {2}120 of 120 events\n$/)
  assert.equal((await queue()).pending, 120)
  writeFileSync(file, JSON.stringify([{ type: 'com.example.read', id: 'read-0' }, { type: 'no spaces please' }]))
  const mixed = await json('publish', '--file', file)
  assert.deepEqual([mixed.code, mixed.body.results.length, mixed.body.results[0].status], [1, 2, 'duplicate'])
})
