// Memories that say the same are noticed, found and merged; erased memories leave no trace.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CreatedMemory, Memory } from '@sensorium/contract'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { serviceForSuite, type TestAgent, type TestTenant } from '../support/service.ts'
import { withDerived } from '../../src/memory/derived-from.ts'
import { decideMoves, type Edge, type Moves } from '../../src/memory/move-edges.ts'
import { ids, memoryCalls, orgAdmin, type Actor } from './tools.ts'

test('[KEP-13] relationships among merged memories are dropped, and of equal ones the strongest moves', () => {
  const edge = (id: string, from: string, to: string, strength = 1, relationship_type = 'supports'): Edge => ({
    id,
    source_memory_id: from,
    target_memory_id: to,
    relationship_type,
    strength,
  })
  function movesOf(edges: readonly Edge[], merged: string[]): Moves {
    const decided = decideMoves('into', new Set(merged))
    for (const one of [...edges, ...edges]) decided.add(one)
    assert.equal(decided.count(), edges.length)
    return decided.moves()
  }
  const edges = [
    edge('1', 'into', 'x', 0.5),
    edge('2', 'a', 'x', 0.75),
    edge('3', 'b', 'x', 0.75),
    edge('4', 'a', 'x', 1, 'part_of'),
    edge('5', 'a', 'b'),
    edge('6', 'into', 'a'),
    edge('7', 'y', 'b'),
    edge('8', 'y', 'into', 0.5, 'part_of'),
  ]
  const { dropped, outgoing, incoming } = movesOf(edges, ['a', 'b'])
  assert.deepEqual(dropped.sort(), ['1', '3', '5', '6'])
  assert.deepEqual(outgoing.sort(), ['2', '4'])
  assert.deepEqual(incoming, ['7'])
  // Of equally strong ones the one that need not move stays.
  assert.deepEqual(movesOf([edge('1', 'a', 'x'), edge('2', 'into', 'x')], ['a']).dropped, ['1'])
})

test('[KEP-13] metadata names the merged memories and otherwise keeps its exact text', () => {
  assert.equal(withDerived('{}', ['m']), '{"derived_from":["m"]}')
  assert.equal(withDerived('{ "exact": 1.00 }', ['m']), '{"derived_from":["m"],"exact": 1.00 }')
  assert.equal(withDerived('{"derived_from":["l"],"a":1}', ['l', 'm']), '{"derived_from":["l","m"],"a":1}')
  assert.equal(withDerived('{"derived_from":"note"}', ['m']), '{"derived_from":["m"]}')
  assert.equal(
    withDerived('{ "n": 12345678901234567890.10, "derived_from" : ["l"] , "o": {"derived_from": 2} }', ['m']),
    '{ "n": 12345678901234567890.10, "derived_from" :["l","m"], "o": {"derived_from": 2} }',
  )
  assert.equal(
    withDerived('{"a":"\\"derived_from\\":[","derived_from":1.0e3}', ['m']),
    '{"a":"\\"derived_from\\":[","derived_from":["m"]}',
  )
  assert.equal(
    withDerived('{"a":"5\\" pipe","derived_from":["l"]}', ['m']),
    '{"a":"5\\" pipe","derived_from":["l","m"]}',
  )
  assert.equal(withDerived('{"derived\\u005ffrom":["l"]}', ['m']), '{"derived\\u005ffrom":["l","m"]}')
  assert.equal(
    withDerived('{"derived_from":1,"derived_from":["l"]}', ['m']),
    '{"derived_from":1,"derived_from":["l","m"]}',
  )
  // Long metadata that has the member is not examined, and gets no second one.
  const long = `{"derived_from":["l"],"a":"${'x'.repeat(65_536)}"}`
  assert.equal(withDerived(long, ['m']), long)
})

const PUMP = {
  title: 'Pump 7 overheats',
  content: 'The coolant valve of pump 7 sticks when it is cold; open it by hand.',
}
const ALIKE = { title: 'Pump 7 overheats', content: 'The coolant valve of pump 7 sticks when cold; open it by hand.' }
const UNLIKE = { title: 'Invoices', content: 'Customers in Norway pay within thirty days and like paper.' }

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const calls = memoryCalls(service)

  const similar = (by: Actor, id: string, query = '') =>
    service.call<{ results: { memory: Memory; score: number }[] }>(`GET /v1/memories/${id}/similar${query}`, {
      token: by.token,
    })
  const merge = (by: Actor, id: string, memory_ids: unknown) =>
    service.call<Memory>(`POST /v1/memories/${id}/merge`, { token: by.token, body: { memory_ids } })
  const erase = (by: Actor, id: string) => service.call(`DELETE /v1/memories/${id}?erase=true`, { token: by.token })
  /** Resolves when no memory waits to be embedded. */
  const quiet = () => service.app.memory.embedding.idle()

  async function people(): Promise<{ tenant: TestTenant; agent: TestAgent; other: TestAgent; admin: Actor }> {
    const tenant = await service.tenant()
    const admin = await orgAdmin(service, tenant)
    return { tenant, agent: await tenant.agent(), other: await tenant.agent(), admin }
  }

  test('[HTTP-25] every new memory is counted as embedded once, whether that was before or after it was written', async () => {
    const { text: earlier } = await service.call('GET /metrics')
    const count = (text: string) => Number(/^sensorium_memories_embedded_total (\d+)$/m.exec(text)?.[1] ?? 0)
    const { agent } = await people()
    for (const content of ['The ferry leaves at six.', 'The bakery opens at seven.']) {
      await calls.make(agent, { title: '–', content })
      await service.app.memory.embedding.idle()
    }
    const { text } = await service.call('GET /metrics')
    assert.equal(count(text) - count(earlier), 2)
  })

  test('[KEP-12] a new memory’s response lists similar memories that its owner sees', async () => {
    const { agent, other } = await people()
    await quiet()
    const first = await calls.post(agent, PUMP)
    assert.equal('similar' in first.body, false, first.text)
    const hidden = await calls.make(other, PUMP)
    await quiet()
    const unlike = await calls.post(agent, UNLIKE)
    assert.equal('similar' in unlike.body, false)
    await quiet()
    const twin = (await calls.post(agent, ALIKE)).body as CreatedMemory
    assert.deepEqual(
      twin.similar!.map(({ id }) => id),
      [first.body.id],
    )
    assert.ok(twin.similar![0]!.score > 0.92 && twin.similar![0]!.score <= 1)
    assert.ok(!JSON.stringify(twin.similar).includes(hidden.id))
    // It was stored with its vector, so it is not embedded again.
    const rows = await service.store.rows<{ embedded: string }>(
      'select embedded from memory_recall where memory_id = ?',
      [twin.id],
    )
    assert.notEqual(rows[0]!.embedded, '')
    assert.equal('similar' in (await calls.get(agent, twin.id)).body, false)
  })

  test('[KEP-12] a memory that is stored twice in a row is listed in the second response', async () => {
    const { agent } = await people()
    await quiet()
    // A tenant compares one new memory at a time, so the second of these is embedded after its response.
    const [, first] = await Promise.all([calls.make(agent, UNLIKE), calls.make(agent, PUMP)])
    const { similar } = (await calls.post(agent, PUMP)).body as CreatedMemory
    assert.deepEqual(
      similar?.map(({ id }) => id),
      [first.id],
    )
  })

  test('[KEP-12] a memory that is like another in much, but not in nearly all, is not listed', async () => {
    const { agent } = await people()
    const first = await calls.make(agent, PUMP)
    await quiet()
    // By the built-in model 0.91 and 0.935.
    const longer = await calls.post(agent, { ...PUMP, content: `${PUMP.content} Tell the shift leader first.` })
    assert.equal('similar' in longer.body, false, longer.text)
    await quiet()
    const other = await calls.post(agent, { ...PUMP, content: PUMP.content.replace('coolant', 'oil') })
    assert.deepEqual(
      (other.body as CreatedMemory).similar?.map(({ id }) => id),
      [first.id],
    )
  })

  test('[KEP-12] the most similar memory is listed, however little confidence it has', async () => {
    const { agent } = await people()
    const twin = await calls.make(agent, { ...PUMP, confidence: 0 })
    await quiet()
    for (const word of ['Slowly', 'Now', 'Then', 'OK', 'Again', 'Twice', 'Later', 'Today', 'Please', 'First']) {
      await calls.make(agent, { ...PUMP, content: `${PUMP.content} ${word}.` })
      await quiet()
    }
    const { similar } = (await calls.post(agent, PUMP)).body as CreatedMemory
    assert.equal(similar?.length, 10)
    assert.equal(similar[0]!.id, twin.id)
  })

  test('[KEP-12] [IDEM-1] a retry with the same key gets the same response', async () => {
    const { agent } = await people()
    await calls.make(agent, PUMP)
    await quiet()
    const send = () =>
      service.call<CreatedMemory>('POST /v1/memories', {
        token: agent.token,
        headers: { 'idempotency-key': 'twice' },
        body: { type: 'semantic', scope: 'agent', ...PUMP },
      })
    const first = await send()
    assert.equal(first.body.similar!.length, 1)
    assert.equal((await send()).text, first.text)
    assert.equal((await calls.list(agent)).total, 2)
  })

  test('[KEP-12] long texts and many at once are stored without looking for similar memories', async () => {
    const { agent } = await people()
    await quiet()
    const long = await calls.post(agent, { ...PUMP, content: `${PUMP.content} `.repeat(20) })
    assert.equal(long.status, 201)
    const again = await calls.post(agent, { ...PUMP, content: `${PUMP.content} `.repeat(20) })
    assert.equal('similar' in again.body, false)
    const many = await Promise.all(Array.from({ length: 12 }, () => calls.post(agent, PUMP)))
    assert.deepEqual(new Set(many.map(({ status }) => status)), new Set([201]))
  })

  test('[KEP-11] similar memories: the most similar first, without itself, of those the caller sees', async () => {
    const { agent, other } = await people()
    const pump = await calls.make(agent, PUMP)
    const invoices = await calls.make(agent, UNLIKE)
    const twin = await calls.make(agent, ALIKE)
    const shared = await calls.make(other, { ...PUMP, scope: 'institutional' })
    await calls.make(other, PUMP)
    await quiet()
    const { results } = (await similar(agent, pump.id)).body
    assert.deepEqual(
      results.map(({ memory }) => memory.id),
      [shared.id, twin.id, invoices.id],
    )
    assert.ok(results[0]!.score > 0.99 && results[1]!.score > 0.92 && results[2]!.score < 0.5, JSON.stringify(results))
    assert.equal((await similar(agent, pump.id, '?limit=1')).body.results.length, 1)
    assertError(await similar(agent, pump.id, '?limit=0'), 'validation_failed')
    assertError(await similar(other, pump.id), 'not_found')
    assert.equal((await calls.list(agent)).memories.find(({ id }) => id === twin.id)!.accessed_at, twin.accessed_at)
  })

  test('[KEP-11] a hundred similar memories are found beside the memory itself', async () => {
    const { agent } = await people()
    const created = await Promise.all(
      Array.from({ length: 120 }, (_, i) => calls.make(agent, { ...PUMP, title: `Pump ${i}` })),
    )
    await quiet()
    const { results } = (await similar(agent, created[0]!.id, '?limit=100')).body
    assert.equal(results.length, 100)
  })

  test('[KEP-13] a merge keeps one memory’s text, moves relationships to it and deletes the others', async () => {
    const { agent, admin } = await people()
    const [into, a, b, x] = [
      await calls.make(agent, { ...PUMP, metadata: { kept: true } }),
      await calls.make(agent, ALIKE),
      await calls.make(agent, ALIKE),
      await calls.make(agent, UNLIKE),
    ]
    await calls.relate(agent, a.id, x.id, { strength: 0.5 })
    await calls.relate(agent, b.id, x.id, { strength: 0.75 })
    await calls.relate(agent, x.id, b.id, { relationship_type: 'caused_by' })
    await calls.relate(agent, a.id, into.id)
    const merged = await merge(agent, into.id, [a.id, b.id, a.id])
    assert.equal(merged.status, 200, merged.text)
    assert.equal(merged.body.content, PUMP.content)
    assert.deepEqual(merged.body.metadata, { derived_from: [a.id, b.id], kept: true })
    const edges = await calls.related(agent, into.id, '?direction=both')
    assert.deepEqual(
      edges.map(({ relationship: { source_memory_id, target_memory_id, strength } }) => [
        source_memory_id,
        target_memory_id,
        strength,
      ]),
      [
        [x.id, into.id, 1],
        [into.id, x.id, 0.75],
      ],
    )
    for (const { id } of [a, b]) {
      assertError(await calls.get(agent, id), 'not_found')
      for (const table of ['memory_recall', 'memory_vectors', 'memory_facts'])
        assert.deepEqual(await service.store.rows(`select 1 from ${table} where memory_id = ?`, [id]), [], table)
    }
    assert.deepEqual(ids((await calls.list(agent, { status: 'deleted' })).memories), [b.id, a.id])
    assertError(await merge(agent, into.id, [a.id]), 'not_found')
    const more = await calls.make(agent)
    assert.deepEqual((await merge(admin, into.id, [more.id])).body.metadata, {
      derived_from: [a.id, b.id, more.id],
      kept: true,
    })
  })

  test('[KEP-13] a merge needs one owner, scope and team and one to twenty memories, or changes nothing', async () => {
    const { agent, other, admin } = await people()
    const into = await calls.make(agent, { scope: 'institutional' })
    const theirs = await calls.make(other, { scope: 'institutional' })
    const own = await calls.make(agent, { scope: 'institutional' })
    const narrow = await calls.make(agent)
    assertError(await merge(agent, into.id, [own.id, theirs.id]), 'business_rule_violation', { rule: 'not_owner' })
    // A memory that does not exist is reported first, however the ids sort.
    const [before, later] = [`mem_${'0'.repeat(26)}`, `mem_7${'z'.repeat(25)}`]
    for (const absent of [before, later])
      for (const body of [
        [theirs.id, absent],
        [absent, theirs.id],
      ])
        assertError(await merge(agent, into.id, body), 'not_found', { resource_id: absent })
    assertError(await merge(agent, later, [before]), 'not_found', { resource_id: later })
    assertError(await merge(admin, into.id, [own.id, theirs.id]), 'business_rule_violation', {
      rule: 'merge_mismatch',
      memory_id: theirs.id,
    })
    assertError(await merge(agent, into.id, [own.id, narrow.id]), 'business_rule_violation', { rule: 'merge_mismatch' })
    const [blue, red] = [
      await calls.make(agent, { scope: 'team', team_id: 'blue' }),
      await calls.make(agent, { scope: 'team', team_id: 'red' }),
    ]
    assertError(await merge(agent, blue.id, [red.id]), 'business_rule_violation', { rule: 'merge_mismatch' })
    for (const wrong of [[], 'x', Array(21).fill(own.id)])
      assertError(await merge(agent, into.id, wrong), 'validation_failed')
    assert.equal((await calls.get(agent, own.id)).status, 200)
    assert.deepEqual((await merge(agent, into.id, [into.id])).body.metadata, {})
  })

  test('[KEP-14] an erasure leaves nothing, also of a deleted memory, and is for org-admins only', async () => {
    const { tenant, agent, admin } = await people()
    const memory = await calls.make(agent, { ...PUMP, external_id: 'e' })
    const x = await calls.make(agent, UNLIKE)
    await calls.patch(agent, memory.id, { title: 'Changed' })
    await calls.relate(agent, memory.id, x.id)
    await calls.relate(agent, x.id, memory.id)
    const allowed = await tenant.agent({ scopes: ['memory:write', 'admin'] })
    for (const by of [agent, allowed])
      assertError(await erase(by, memory.id), 'insufficient_scope', { required_scope: 'org_admin' })
    await calls.forget(agent, memory.id)
    await quiet()
    assert.equal((await erase(admin, memory.id)).status, 204)
    assertError(await erase(admin, memory.id), 'not_found')
    assertError(await erase(admin, 'nothing'), 'not_found')
    const elsewhere = await orgAdmin(service, await service.tenant())
    assertError(await erase(elsewhere, x.id), 'not_found')
    assert.equal((await calls.list(agent, { status: 'deleted' })).total, 0)
    assert.deepEqual(await calls.related(agent, x.id, '?direction=both'), [])
    for (const [table, column] of [
      ['memories', 'id'],
      ['memory_versions', 'memory_id'],
      ['memory_texts', 'id'],
      ['memory_recall', 'memory_id'],
      ['memory_vectors', 'memory_id'],
      ['memory_facts', 'memory_id'],
    ])
      assert.deepEqual(await service.store.rows(`select 1 from ${table} where ${column} = ?`, [memory.id]), [], table)
    assert.equal((await erase(admin, x.id)).status, 204)
  })
})
