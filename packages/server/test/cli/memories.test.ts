// The commands for memories, against a real service.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sqlite } from '../support/engines.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { serviceForSuite, tenantForSuite } from '../support/service.ts'
import { commandsOf, listener } from './commands.ts'
import { newHome } from './home.ts'

const service = serviceForSuite(sqlite, {}, fakeClock(Date.now()))
const tenant = tenantForSuite(service)
const home = newHome()
after(home.drop)

test('[CLI-1] a memory is promoted, and what scores low is left out', async () => {
  const { run, json } = await listener(service, tenant, home.env)
  const { id } = (await json('remember', 'Coffee', 'The machine is descaled every month.')).body
  assert.equal((await json('recall', 'coffee machine', '--min-score', '0')).body.results.length, 1)
  assert.deepEqual((await json('recall', 'coffee machine', '--min-score', '1')).body.results, [])
  assert.equal((await run('memories', 'promote', id)).code, 2)
  const team = await json('memories', 'promote', id, '--scope', 'team', '--team', 'support')
  assert.deepEqual([team.body.scope, team.body.team_id], ['team', 'support'])
  assert.match((await run('memories', 'promote', id, '--scope', 'institutional')).stdout, /by everybody in the tenant/)
})

test('[CLI-1] [CLI-40] a memory is updated, and others are merged into it', async () => {
  const { run, json } = await listener(service, tenant, home.env)
  const [kept, twin, third] = await Promise.all(
    ['Descaling', 'Descale', 'Scale'].map(
      async (title) => (await json('remember', title, 'The machine is descaled every month.')).body.id as string,
    ),
  )
  const none = await run('memories', 'update', kept!)
  assert.equal(none.code, 2)
  assert.match(none.stderr, /Say what changes: --title, --content/)
  const texts = ['--title', 'Coffee', '--content', 'It is descaled every week.\n', '--expires', '2999-01-01T00:00:00Z']
  const rest = ['--confidence', '0.9', '--importance', '0.2', '--metadata', '{"n":9007199254740993}']
  const changed = await run('memories', 'update', kept!, ...texts, ...rest, '--json')
  assert.match(changed.stdout, /"n": ?9007199254740993/)
  const { title, content, confidence, importance, expires_at } = JSON.parse(changed.stdout)
  assert.deepEqual([title, content, confidence, importance], ['Coffee', 'It is descaled every week.', 0.9, 0.2])
  assert.equal(expires_at, '2999-01-01T00:00:00.000Z')
  assert.equal((await json('memories', 'update', kept!, '--expires', '')).body.expires_at, null)
  assert.match(
    (await run('memories', 'update', kept!, '--title', 'Tea')).stdout,
    /^Tea\nIt is descaled every week\.\nmem_/,
  )
  assert.equal((await run('memories', 'merge', kept!)).code, 2)
  assert.match((await run('memories', 'merge', kept!, kept!)).stdout, /^Nothing is merged: only mem_\w+ was named\.$/m)
  assert.match(
    (await run('memories', 'merge', kept!, twin!, kept!, twin!)).stdout,
    /^1 memory is merged into mem_\w+ and deleted\.$/m,
  )
  assert.deepEqual((await json('memories', 'merge', kept!, third!)).body.metadata.derived_from, [twin, third])
  assert.equal((await run('memories', 'show', twin!)).code, 4)
})

test('[CLI-1] relationships are deleted, and an org-admin erases a memory', async () => {
  const { run, json } = await listener(service, tenant, home.env)
  const [one, two] = await Promise.all(
    ['Kettle', 'Teapot'].map(async (title) => (await json('remember', title, `About the ${title}.`)).body.id as string),
  )
  for (const type of ['caused_by', 'related_to', 'supports']) await json('relate', one!, two!, '--type', type)
  await json('relate', two!, one!)
  const first = await json('unrelate', one!, two!, '--type', 'supports')
  assert.deepEqual(
    first.body.deleted.map((deleted: { relationship_type: string }) => deleted.relationship_type),
    ['supports'],
  )
  assert.match((await run('unrelate', one!, two!)).stdout, /^mem_\w+ is no longer related to mem_\w+\.$/m)
  const none = await run('unrelate', one!, two!, '--type', 'caused_by')
  assert.equal(none.code, 4)
  assert.match(none.stdout + none.stderr, /^mem_\w+ is not caused by mem_\w+\.$/m)
  assert.match((await run('memories', 'show', two!)).stdout, /related to +Kettle/)

  const admin = commandsOf(() => ({ ...home.env, SENSORIUM_KEY: tenant.adminKey, SENSORIUM_URL: service.url }))
  await run('memories', 'forget', one!)
  assert.equal((await run('memories', 'erase', one!)).code, 3)
  assert.match((await admin.run('memories', 'erase', one!)).stdout, /is erased; nothing of it is kept\.$/m)
  assert.equal((await admin.run('memories', 'erase', one!)).code, 4)
})

test('[CLI-1] a memory that says what another one says is found, and its versions are shown and restored', async () => {
  const { run, json } = await listener(service, tenant, home.env)
  const text = 'Its ballast hums.'
  // Only while nothing waits to be embedded is a new memory compared.
  await service.app.memory.embedding.idle()
  const first = await run('remember', 'Flickering lamp', text)
  assert.match(first.stdout, /^Remembered as mem_\w+ \(semantic, agent\)\.\n$/)
  const id = /mem_\w+/.exec(first.stdout)![0]
  await service.app.memory.embedding.idle()
  const twin = await run('remember', 'Flickering lamp', text)
  assert.match(twin.stdout, new RegExp(`\\nIt says nearly the same as ${id}; see sensorium memories merge\\.\\n$`))
  assert.match((await run('memories', 'similar', id)).stdout, /^1\.00 {2}Flickering lamp\n {6}Its ballast hums/)
  assert.equal((await json('memories', 'similar', id, '--limit', '1')).body.results.length, 1)

  await run('memories', 'update', id, '--content', 'Every week.', '--metadata', '{"n":9007199254740993}')
  assert.match(
    (await run('memories', 'history', id)).stdout,
    /what it changed\n +2 .* agt_\w+ +content: Every week\., metadata: {"n":9007199254740993}\n +1 .*title: Flickering lamp/,
  )
  assert.match((await run('memories', 'restore', id, '1')).stdout, new RegExp(`^Flickering lamp\\n${text}\\n${id}`))
  assert.equal((await run('memories', 'restore', id, '9')).code, 4)
  assert.equal((await run('memories', 'restore', id, 'first')).code, 2)
})
