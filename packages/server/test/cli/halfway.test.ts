// Commands that take several steps, and what happens between two of them.
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, test, type TestContext } from 'node:test'
import { onBothEngines } from '../support/engines.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { command } from '../support/process.ts'
import { serviceForSuite, tenantForSuite } from '../support/service.ts'
import { startGateway, type Passing } from './gateway.ts'
import { newHome } from './home.ts'

onBothEngines((engine) => {
  const service = serviceForSuite(engine, {}, fakeClock(Date.now()))
  const tenant = tenantForSuite(service)
  const home = newHome()
  after(home.drop)

  /** Runs commands with this key through a gateway. */
  async function through(t: TestContext, key: string, meddle: (passing: Passing) => Promise<Response | null>) {
    const gateway = await startGateway(service.url, meddle)
    t.after(() => gateway.close())
    const env: Record<string, string> = { ...home.env, SENSORIUM_KEY: key, SENSORIUM_URL: gateway.url }
    const run = (...args: string[]) => command(args, env)
    return { env, run }
  }

  test('[CLI-10] dlq replay puts back what had failed when it began, whatever fails again meanwhile', async (t) => {
    const agent = await tenant.agent()
    const { token } = agent
    const post = (path: string, body: unknown) => service.call(`POST ${path}`, { token, body })
    await post(`/v1/agents/${agent.id}/interests`, { event_type: '*', priority: 0, enrichment_depth: 'none' })
    let refused: string[] = []
    async function refuseAll(): Promise<void> {
      for (;;) {
        const { deliveries } = (await service.call('GET /v1/delivery/poll?limit=100', { token })).body
        if (deliveries.length === 0) return
        const ids: string[] = deliveries.map(({ id }: { id: string }) => id)
        refused.push(...ids)
        await post('/v1/delivery/nack', { delivery_ids: ids, dead_letter: true })
      }
    }
    const { run } = await through(t, agent.key, async ({ line, ask }) => {
      const answer = await ask()
      if (line !== 'POST /v1/delivery/dlq/replay') return answer
      await service.clock.advance(1_000)
      await refuseAll()
      return answer
    })
    for (let batch = 0; batch < 11; batch++) {
      const event = { specversion: '1.0', source: '/test', type: 'com.example.read' }
      const events = Array.from({ length: 100 }, (_, i) => ({ ...event, id: `failing-${batch}-${i}` }))
      const headers = { 'content-type': 'application/cloudevents-batch+json' }
      assert.equal((await service.call('POST /v1/events', { token, body: events, headers })).status, 200)
    }
    await refuseAll()
    for (const which of [['--all'], ['--until', '2099-01-01T00:00:00Z']]) {
      refused = []
      const { code, stdout } = await run('dlq', 'replay', ...which, '--json')
      assert.deepEqual([code, JSON.parse(stdout)], [0, { matched: 1_100, replayed: 1_100 }], which.join(' '))
      assert.deepEqual([refused.length, new Set(refused).size], [1_100, 1_100], 'each came back once')
    }
  })

  test('[CLI-11] publish --file sends large events in requests that fit', async () => {
    const agent = await tenant.agent()
    const file = path.join(home.env['HOME']!, 'large.ndjson')
    const event = JSON.stringify({ type: 'com.example.large', data: 'x'.repeat(900_000) })
    writeFileSync(file, `${event}\n`.repeat(12))
    const env = { ...home.env, SENSORIUM_KEY: agent.key, SENSORIUM_URL: service.url }
    const { code, stdout } = await command(['publish', '--file', file], env)
    assert.deepEqual([code, stdout], [0, '12 accepted, 0 known already, 0 refused.\n'])
  })

  test('[CLI-11] publish --file says what was published before a request failed', async (t) => {
    const agent = await tenant.agent()
    let requests = 0
    const { run } = await through(t, agent.key, async ({ line, ask }) => {
      if (line !== 'POST /v1/events' || ++requests % 2 === 1) return ask()
      await ask()
      return Response.json({ error: { code: 'conflict', message: 'not now' } }, { status: 409 })
    })
    const file = path.join(home.env['HOME']!, 'many.ndjson')
    const line = JSON.stringify({ type: 'com.example.read' })
    writeFileSync(file, `${line}\n`.repeat(250))
    const text = await run('publish', '--file', file)
    const summary = '100 accepted, 0 known already, 0 refused.'
    const rest = 'The request with events 101 to 200 failed. Events 201 to 250 were not sent.'
    assert.deepEqual([text.code, text.stdout, text.stderr], [1, `${summary}\n${rest}\n`, 'not now\n'])
    const json = await run('publish', '--file', file, '--json')
    const { results, unanswered, error } = JSON.parse(json.stdout)
    assert.deepEqual([json.code, results.length, unanswered.length, error.code], [1, 100, 100, 'conflict'])
    const { token } = agent
    const known = await service.call(`GET /v1/events/${unanswered[99]}`, { token })
    assert.equal(known.status, 200, 'an event without a response can be looked up')
  })

  test('[CLI-12] agents register checks the scopes first, and names the agent if its key cannot be minted', async (t) => {
    const { run } = await through(t, tenant.adminKey, async ({ line, ask }) =>
      line.endsWith('/keys') ? Response.json({ error: { message: 'not now' } }, { status: 409 }) : ask(),
    )
    const count = async () => (await service.call('GET /v1/agents?limit=1', { token: tenant.admin })).body.total
    const before = await count()
    const typo = await run('agents', 'register', 'Typo', '--scopes', 'send,recieve')
    assert.deepEqual([typo.code, typo.stderr], [2, 'There is no scope recieve. Did you mean receive?\n'])
    const far = await run('agents', 'register', 'Typo', '--scopes', 'everything')
    assert.match(far.stderr, /^There is no scope everything\. The scopes are send, receive, /)
    assert.equal((await run('agents', 'register', 'Typo', '--scopes', ',')).code, 2)
    assert.equal(await count(), before, 'nothing was registered')

    const text = await run('agents', 'register', 'Keyless', '--scopes', 'send')
    assert.deepEqual([text.code, text.stderr], [1, 'not now\n'])
    assert.match(
      text.stdout,
      /^Agent Keyless is registered: (agt_\w+)\nNo key was minted\. sensorium keys mint --agent \1 --scopes send gives/,
    )
    const json = await run('agents', 'register', 'Keyless 2', '--scopes', 'send', '--json')
    const { id, error } = JSON.parse(json.stdout)
    assert.match(id, /^agt_/)
    assert.deepEqual([json.code, error.code], [1, 'conflict'])
  })

  test('[KEP-10] an export that breaks off leaves no file, and the next one succeeds', async (t) => {
    const agent = await tenant.agent()
    let isBroken = true
    const { run } = await through(t, agent.key, async ({ line, ask, response }) => {
      if (line !== 'GET /v1/memories/export' || !isBroken) return ask()
      const whole = await (await ask()).text()
      response.writeHead(200, { 'content-type': 'application/x-ndjson' })
      response.write(whole.slice(0, whole.indexOf('\n') + 1), () => response.destroy())
      return null
    })
    for (const title of ['One', 'Two']) assert.equal((await run('remember', title, 'Kept.')).code, 0)
    const folder = mkdtempSync(path.join(home.env['HOME']!, 'export-'))
    const file = path.join(folder, 'memories.ndjson')
    const broken = await run('memories', 'export', file)
    assert.deepEqual([broken.code, readdirSync(folder)], [5, []])
    isBroken = false
    assert.equal((await run('memories', 'export', file)).code, 0)
    assert.deepEqual(readdirSync(folder), ['memories.ndjson'])
    assert.equal((await run('memories', 'export', file)).code, 2, 'nothing is overwritten')
  })
})
