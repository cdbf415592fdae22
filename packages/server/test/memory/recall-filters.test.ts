// Filters of searches and lists.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { before, test } from 'node:test'
import type { Memory } from '@sensorium/contract'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { ROOT } from '../support/root.ts'
import { agentForSuite, serviceForSuite, tenantForSuite } from '../support/service.ts'
import { memoryCalls } from './tools.ts'

const RECOMMENDED = [
  'README.md',
  'docs/first-agent.md',
  'docs/command-line.md',
  'packages/sdk/README.md',
  'packages/server/src/cli/catalogue/memory.ts',
]
const README_AND_OTHERS = [
  [
    'Pump 7 runs hot since its rebuild',
    'Above 90 degrees it has always been the coolant valve. Open it by hand first.',
  ],
  ['The canteen closes at three', 'Lunch is served from eleven.'],
  ['Invoices go out on Mondays', 'Billing runs them at six.'],
  ['Anna leads the night shift', 'She can be reached by phone.'],
  ['The north gate sticks in winter', 'Push it from below.'],
  ['Order 17 was delayed', 'The carrier lost a pallet.'],
  ['Bleeding the coolant line', 'Open the bleed screw until no more air comes.'],
] as const

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)
  const agent = agentForSuite(tenant)
  const calls = memoryCalls(service)
  const made: Record<string, Memory> = {}
  const times: number[] = []
  before(async () => {
    const make = async (name: string, body: object): Promise<void> => {
      times.push(service.clock.now())
      made[name] = await calls.make(agent, { title: `Valve ${name}`, content: 'The coolant valve sticks.', ...body })
      await service.clock.advance(60_000)
    }
    await make('a', { project_id: 'p-1', metadata: { line: 'north', pump: 7, open: true, by: null } })
    await make('b', {
      project_id: 'p-2',
      source_event_id: 'e-1',
      metadata: { line: 'south', pump: 7.5, nested: { a: 1 } },
    })
    await make('c', { metadata: { line: 'north', 'odd "name"': 'a\u0000b' } })
    await service.app.memory.embedding.idle()
  })

  const search = (body: object) =>
    service.call<{ results: { memory: Memory; score: number }[] }>('POST /v1/memories/search', {
      token: agent.token,
      body: { query: 'valve', ...body },
    })
  async function found(body: object): Promise<string> {
    const { status, body: answer, text } = await search(body)
    assert.equal(status, 200, text)
    return answer.results
      .map(({ memory: { title } }) => title.at(-1))
      .sort()
      .join('')
  }
  const listed = async (query: Record<string, string>): Promise<string> =>
    (await calls.list(agent, query)).memories.map(({ title }) => title.at(-1)).join('')
  const iso = (ms: number): string => new Date(ms).toISOString()

  test('[RCL-7] a search is filtered by project, source event, time of creation and metadata scalars', async () => {
    assert.equal(await found({}), 'abc')
    assert.equal(await found({ project_id: 'p-1' }), 'a')
    assert.equal(await found({ source_event_id: 'e-1' }), 'b')
    assert.equal(await found({ created_after: iso(times[0]!) }), 'bc')
    assert.equal(await found({ created_before: iso(times[2]!) }), 'ab')
    assert.equal(await found({ created_after: iso(times[0]!), created_before: iso(times[2]!) }), 'b')
    for (const [metadata, expected] of [
      [{ line: 'north' }, 'ac'],
      [{ line: 'north', pump: 7 }, 'a'],
      [{ pump: 7.5 }, 'b'],
      [{ open: true }, 'a'],
      [{ by: null }, 'a'],
      [{ pump: '7' }, ''],
      [{ nested: 1 }, ''],
      [{ 'odd "name"': 'a\u0000b' }, 'c'],
      [{}, 'abc'],
    ] as const)
      assert.equal(await found({ metadata }), expected, JSON.stringify(metadata))
  })

  test('[RCL-7] filters use the current metadata', async () => {
    await calls.patch(agent, made['c']!.id, { metadata: { line: 'west' } })
    assert.equal(await found({ metadata: { line: 'north' } }), 'a')
    assert.equal(await found({ metadata: { line: 'west' } }), 'c')
  })

  test('[RCL-7] a number that is too large for a double is not null', async () => {
    const { token } = await (await service.tenant()).agent()
    const create = (metadata: string) =>
      service.call('POST /v1/memories', {
        token,
        raw: `{"type":"semantic","scope":"agent","title":"huge","content":"pump","project_id":"huge","metadata":${metadata}}`,
        headers: { 'content-type': 'application/json' },
      })
    for (const metadata of ['{"n":1e400}', '{"n":-1e400}', '{"n":null}'])
      assert.equal((await create(metadata)).status, 201)
    for (const number of ['1e400', '-1e400', 'null']) {
      const reply = await service.call('POST /v1/memories/search', {
        token,
        raw: `{"query":"pump","project_id":"huge","metadata":{"n":${number}}}`,
        headers: { 'content-type': 'application/json' },
      })
      const shown = reply.text.match(/"metadata":\{[^}]*\}/g)
      assert.deepEqual(shown, [`"metadata":{"n":${number}}`])
    }
  })

  test('[RCL-7] metadata over 64 KiB is not filtered by, also if it was changed to that', async () => {
    const { id } = made['c']!
    const { metadata } = (await calls.get(agent, id)).body
    // Fewer characters than 64 Ki, and more bytes.
    const long = { line: 'east', pad: 'ü'.repeat(40_000) }
    await calls.patch(agent, id, { metadata: long })
    assert.equal(await found({ metadata: { line: 'east' } }), '')
    await calls.patch(agent, id, { metadata })
  })

  test('[RCL-7] 64 members are filtered by, with names of 128 and values of 256 characters', async () => {
    const { id } = made['c']!
    const { metadata } = (await calls.get(agent, id)).body
    const longest = { ['n'.repeat(128)]: 'v'.repeat(256) }
    const many = Object.fromEntries(Array.from({ length: 64 }, (_, i) => [`m${i}`, i]))
    await calls.patch(agent, id, { metadata: { ...longest, ...many } })
    for (const filter of [longest, { m62: 62 }]) assert.equal(await found({ metadata: filter }), 'c')
    assert.equal(await found({ metadata: { m63: 63 } }), '')
    await calls.patch(agent, id, { metadata })
  })

  test('[RCL-8] min_score leaves out results with a lower score', async () => {
    const { results } = (await search({ query: 'valve a' })).body
    const middle = results[1]!.score
    assert.equal((await search({ query: 'valve a', min_score: middle })).body.results.at(-1)!.score, middle)
    assert.deepEqual((await search({ query: 'valve a', min_score: 1 })).body.results, [])
  })

  test('[RCL-8] [DOC-17] the least score that the guides recommend keeps the example of the README', async () => {
    const recommended = RECOMMENDED.flatMap((page) =>
      [...readFileSync(path.join(ROOT, page), 'utf8').matchAll(/min[_-]score(?:: | <0..1>'.*; | )(0\.\d+)/g)].map(
        ([, score]) => Number(score),
      ),
    )
    assert.deepEqual(new Set(recommended), new Set([0.1]))
    assert.equal(recommended.length, RECOMMENDED.length)
    const triage = await tenant.agent()
    for (const [title, content] of README_AND_OTHERS) await calls.make(triage, { title, content })
    await service.app.memory.embedding.idle()
    const { body } = await service.call<{ results: { memory: Memory }[] }>('POST /v1/memories/search', {
      token: triage.token,
      body: { query: 'why does the motor overheat?', min_score: 0.1 },
    })
    assert.deepEqual(
      body.results.map(({ memory }) => memory.title),
      [README_AND_OTHERS[0]![0]],
    )
  })

  for (const [field, value] of [
    ['min_score', 1.1],
    ['created_after', 'yesterday'],
    ['metadata', 'north'],
    ['project_id', 7],
  ] as const)
    test(`[RCL-7] [RCL-8] ${field} ${JSON.stringify(value)} is refused`, async () => {
      assertError(await search({ [field]: value }), 'validation_failed', { field })
    })

  test('[RCL-9] a list is filtered by project, time of creation and status', async () => {
    assert.equal(await listed({ project_id: 'p-2' }), 'b')
    assert.equal(await listed({ created_after: iso(times[0]!), search: 'valve' }), 'cb')
    assert.equal(await listed({ created_before: iso(times[1]!) }), 'a')
    const brief = await calls.make(agent, { title: 'Brief d', expires_at: iso(service.clock.now() + 1_000) })
    const gone = await calls.make(agent, { title: 'Gone e', content: 'Soon gone' })
    await calls.forget(agent, gone.id)
    // To the millisecond of its expiry: from then on it is not active any more.
    await service.clock.advance(1_000)
    assert.equal(await listed({ status: 'deleted' }), 'e')
    assert.equal(await listed({ status: 'deleted', search: 'SOON g' }), 'e')
    assert.equal(await listed({ status: 'deleted', search: 'late' }), '')
    const shown = async () => (await calls.list(agent, { status: 'expired' })).memories.map(({ status }) => status)
    assert.equal(await listed({ status: 'expired' }), 'd')
    assert.equal(await listed({ status: 'expired', search: 'brief' }), 'd')
    assert.deepEqual(await shown(), ['expired'])
    await service.app.runOnce.expireMemories()
    assert.equal(await listed({ status: 'expired' }), 'd')
    assert.deepEqual(await shown(), ['expired'])
    assert.equal(await listed({ status: 'expired', search: 'brief' }), 'd')
    assert.equal(await listed({ status: 'active', search: 'brief' }), '')
    assert.equal(await listed({ status: 'active' }), 'cba')
    const other = await tenant.agent()
    assert.equal((await calls.list(other, { status: 'deleted' })).total, 0)
    const admin = { token: tenant.admin, id: '' }
    assert.equal((await calls.list(admin, { status: 'deleted' })).total, 1)
    assert.equal((await calls.get(agent, brief.id)).status, 404)
  })
})
