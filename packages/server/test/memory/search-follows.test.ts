// Effects of a search, and of changes on it: it follows what is written, and is metered itself.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite, startService, tenantForSuite } from '../support/service.ts'
import { memoryCalls, titlesOf } from './tools.ts'

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)
  const memory = memoryCalls(service)

  test('[SRCH-12] a search moves accessed_at of its results, and of nothing else', async () => {
    const agent = await tenant.agent()
    const found = await memory.make(agent, { title: 'Umbrella', content: 'The umbrella stands behind the door.' })
    const other = await memory.make(agent, { title: 'Invoice', content: 'Paid in March.' })
    await service.clock.advance(60_000)
    const [result] = await memory.search(agent, 'umbrella', { limit: 1 })
    const later = new Date(service.clock.now()).toISOString()
    assert.equal(result!.memory.accessed_at, later)
    const list = (await memory.list(agent)).memories
    assert.equal(list.find(({ id }) => id === found.id)!.accessed_at, later)
    assert.equal(list.find(({ id }) => id === other.id)!.accessed_at, other.accessed_at)
  })

  test('[SRCH-13] a changed memory is found by its new text only, and a deleted one is not found', async () => {
    const agent = await tenant.agent()
    const changed = await memory.make(agent, { title: 'Pet', content: 'A brown dog lives here.' })
    const gone = await memory.make(agent, { title: 'Lamp', content: 'The lamp is broken.' })
    const brief = await memory.make(agent, {
      title: 'Coupon',
      content: 'Ten percent off.',
      expires_at: new Date(service.clock.now() + 5_000).toISOString(),
    })
    await service.app.memory.embedding.idle()
    assert.ok((await memory.search(agent, 'hound', { explain: true }))[0]!.signals!.similarity > 0.2)
    await memory.patch(agent, changed.id, { content: 'A sailing boat for two.', title: 'Vessel' })
    await memory.forget(agent, gone.id)
    await service.clock.advance(6_000)
    assert.deepEqual(
      titlesOf(await memory.search(agent, 'dog', { explain: true })).filter((title) => title !== 'Vessel'),
      [],
    )
    const [vessel] = await memory.search(agent, 'yacht on the water', { explain: true })
    assert.equal(vessel!.memory.id, changed.id)
    assert.ok(vessel!.signals!.similarity > 0.2)
    assert.equal((await memory.search(agent, 'brown dog', { explain: true }))[0]!.signals!.lexical, 0)
    for (const { memory: one } of await memory.search(agent, 'broken lamp coupon percent', { limit: 100 }))
      assert.ok(one.id !== gone.id && one.id !== brief.id)
  })

  test('[SRCH-13] a deleted memory that comes back is found by the text it has now, and counted once', async () => {
    const agent = await (await service.tenant()).agent()
    const elsewhere = await (await service.tenant()).agent()
    const queries = ['zebra', 'where is the zebra crossing', 'crossing', 'bakery', 'apple']
    const signals = async (by: typeof agent): Promise<unknown[]> => {
      await service.app.memory.embedding.idle()
      const found = await Promise.all(queries.map((query) => memory.search(by, query, { explain: true })))
      return found.map((results) => results.map(({ score, signals }) => ({ score, ...signals })))
    }
    const pie = { title: 'Apple pie', content: 'Apples, sugar, butter. The crossing of the crust is an art.' }
    const made = await memory.make(agent, { title: 'Zebra crossing', content: 'The crossing by the bakery is closed.' })
    const text = await memory.make(elsewhere, pie)
    const expected = await signals(elsewhere)
    await signals(agent)
    // Twice: the second time, the text that comes back is the one that it had.
    for (const _ of [1, 2]) {
      await memory.forget(agent, made.id)
      assert.deepEqual(await signals(agent), [[], [], [], [], []])
      const line = { id: made.id, type: text.type, scope: text.scope, ...pie }
      assert.deepEqual((await memory.imported(agent, [line])).counts, [0, 1, 0, 0])
      assert.deepEqual(await signals(agent), expected)
    }
  })

  test('[SRCH-6] promoted memories are found at once by agents that newly see them', async () => {
    const here = await service.tenant()
    const [ada, bob] = [await here.agent(), await here.agent()]
    const made = await memory.make(ada, { title: 'Harbour', content: 'Ships dock at pier seven.' })
    assert.deepEqual(await memory.search(bob, 'harbour'), [])
    await memory.promote(ada, made.id, { scope: 'institutional' })
    assert.equal((await memory.search(bob, 'harbour'))[0]!.memory.id, made.id)
  })

  test('a search is metered once, and a retry with the same key gets the same response', async () => {
    const here = await service.tenant()
    const agent = await here.agent()
    await memory.make(agent, { title: 'Key', content: 'Under the mat.' })
    const options = { token: agent.token, body: { query: 'key' }, headers: { 'idempotency-key': 'once' } }
    const first = await service.call('POST /v1/memories/search', options)
    const again = await service.call('POST /v1/memories/search', options)
    assert.equal(first.status, 200, first.text)
    assert.deepEqual(again.body, first.body)
    assert.equal(again.headers.get('idempotent-replayed'), 'true')
    const [row] = await service.store.rows<{ amount: number }>(
      "select sum(amount) as amount from usage_days where tenant_id = ? and metric = 'searches'",
      [here.id],
    )
    assert.equal(Number(row!.amount), 1)
  })

  test('[ENR-6] a search that exceeds its budget fails, rather than returning no results', async () => {
    // In a service that has just started the threads are not ready yet when the clock has moved.
    const fresh = await startService(engine)
    try {
      const { id: tenantId } = await fresh.tenant()
      const viewer = { kind: 'agent', id: 'agt_a', tenantId, teamId: null } as const
      const late = assert.rejects(
        fresh.app.memory.recall(viewer, 'something', { budgetMs: 1_000 }),
        /longer than 1000 ms/,
      )
      await fresh.clock.advance(500)
      await fresh.clock.advance(500)
      await late
    } finally {
      await fresh.stop()
    }
  })
})
