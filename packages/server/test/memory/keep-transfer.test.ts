// Export and import of memories.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { MAX_IMPORT, type ImportedMemories, type Memory, type Relationship } from '@sensorium/contract'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { startService, type Service, type TestAgent, type TestTenant } from '../support/service.ts'
import { aMemory, ids, memoryCalls, orgAdmin, type Actor } from './tools.ts'

const NDJSON = { 'content-type': 'application/x-ndjson' }

onBothEngines((engine) => {
  let service: Service
  let calls: ReturnType<typeof memoryCalls>
  before(async () => {
    service = await startService(engine, { MAX_MEMORY_BYTES: '1048576' })
    calls = memoryCalls(service)
  })
  after(() => service.stop())

  const exported = async (by: Actor, query = '') => {
    const reply = await service.call(`GET /v1/memories/export${query}`, { token: by.token })
    assert.equal(reply.status, 200, reply.text)
    assert.equal(reply.headers.get('content-type'), 'application/x-ndjson')
    return reply.text
  }
  const parsed = (text: string) =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Memory & Relationship)
  const send = (by: Actor, body: string | object[], headers = {}) =>
    service.call<ImportedMemories>('POST /v1/memories/import', {
      token: by.token,
      headers: { ...NDJSON, ...headers },
      raw: typeof body === 'string' ? body : body.map((line) => JSON.stringify(line)).join('\n'),
    })
  const imported = async (by: Actor, body: string | object[]) => {
    const reply = await send(by, body)
    assert.equal(reply.status, 200, reply.text)
    const { errors, ...counts } = reply.body
    return { counts: Object.values(counts), errors }
  }
  const all = async (by: Actor) => (await calls.list(by, { limit: '200' })).memories.reverse()

  /** A tenant with an agent that sees six of its eight memories. */
  async function filled() {
    const tenant = await service.tenant()
    const agent = await tenant.agent({ team: 'blue' })
    const other = await tenant.agent()
    const made = [
      await calls.make(agent, { title: 'One', external_id: 'first', confidence: 0.25 }),
      await calls.make(agent, { title: 'Two', metadata: { long: 'x'.repeat(20_000) }, project_id: 'p' }),
      await calls.make(other, { title: 'Three', scope: 'institutional' }),
      await calls.make(other, { title: 'Four', scope: 'team', team_id: 'blue' }),
    ]
    await calls.make(other, { title: 'Hidden' })
    const gone = await calls.make(agent, { title: 'Gone' })
    await calls.forget(agent, gone.id)
    await service.clock.advance(60_000)
    made.push(await calls.make(agent, { title: 'Five', type: 'episodic', source_url: 'https://example.com/' }))
    const [one, two, three] = made
    assert.equal((await calls.relate(agent, one!.id, two!.id, { strength: 0.5, metadata: { why: 1 } })).status, 201)
    assert.equal((await calls.relate(other, three!.id, one!.id)).status, 404)
    assert.equal((await calls.relate(agent, one!.id, three!.id, { relationship_type: 'contradicts' })).status, 201)
    return { tenant, agent, other, made }
  }

  test('[KEP-7] an export has visible memories, then relationships, oldest first, from `since` on', async () => {
    const { tenant, agent, other, made } = await filled()
    const lines = parsed(await exported(agent))
    assert.deepEqual(lines.slice(0, 5), made)
    const edges = lines.slice(5).map(({ source_memory_id, relationship_type, strength, metadata }) => ({
      source_memory_id,
      relationship_type,
      strength,
      metadata,
    }))
    const source_memory_id = made[0]!.id
    assert.deepEqual(
      edges.sort((a, b) => a.strength - b.strength),
      [
        { source_memory_id, relationship_type: 'supports', strength: 0.5, metadata: { why: 1 } },
        { source_memory_id, relationship_type: 'contradicts', strength: 1, metadata: null },
      ],
    )
    assert.deepEqual(
      parsed(await exported(other)).map(({ title }) => title),
      ['Three', 'Four', 'Hidden'],
    )
    assert.equal(parsed(await exported(await orgAdmin(service, tenant))).length, 8)
    const since = parsed(await exported(agent, `?since=${made[4]!.created_at}`))
    assert.deepEqual(since.map(({ title, relationship_type }) => title ?? relationship_type).sort(), [
      'Five',
      'contradicts',
      'supports',
    ])
    assertError(
      await service.call('GET /v1/memories/export?since=yesterday', { token: agent.token }),
      'validation_failed',
    )
    // An export does not count as access, and one of another tenant is empty.
    assert.deepEqual(
      (await all(agent)).map(({ accessed_at }) => accessed_at),
      made.map(({ accessed_at }) => accessed_at),
    )
    const empty = await (await service.tenant()).agent()
    assert.equal(await exported(empty), '')
  })

  test('[KEP-7] an export of many pages, and of a memory with very many relationships', async () => {
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    const lines: object[] = Array.from({ length: 620 }, (_, i) => ({ ...aMemory, id: `old-${i}`, title: `T ${i}` }))
    for (let i = 1; i < 620; i++)
      lines.push({ source_memory_id: 'old-0', target_memory_id: `old-${i}`, relationship_type: 'part_of' })
    assert.deepEqual((await imported(agent, lines)).counts, [1239, 0, 0, 0])
    const out = parsed(await exported(agent))
    assert.deepEqual(
      out.slice(0, 620).map(({ title }) => title),
      Array.from({ length: 620 }, (_, i) => `T ${i}`),
    )
    assert.equal(new Set(out.slice(620).map(({ target_memory_id }) => target_memory_id)).size, 619)
    assert.equal(out.length, 1239)
  })

  test('[KEP-7] relationships are exported in the order of their ends and types, on every store', async () => {
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    const [one, two, three] = ids([
      await calls.make(agent, { title: 'One' }),
      await calls.make(agent, { title: 'Two' }),
      await calls.make(agent, { title: 'Three' }),
    ])
    const edges = [
      [three, one, 'supports'],
      [two, three, 'related_to'],
      [three, two, 'caused_by'],
      [one, three, 'part_of'],
      [one, two, 'supports'],
      [one, two, 'contradicts'],
    ] as const
    for (const [source, target, relationship_type] of edges)
      await calls.relate(agent, source!, target!, { relationship_type })
    const out = parsed(await exported(agent)).slice(3)
    const shown = out.map((line) => [line.source_memory_id, line.target_memory_id, line.relationship_type])
    assert.deepEqual(
      shown,
      edges.toSorted((a, b) => (a.join(' ') < b.join(' ') ? -1 : 1)),
    )
  })

  test('[KEP-8] [KEP-9] an import into another tenant maps ids to the caller’s own memories, once', async () => {
    const { agent, made } = await filled()
    const text = await exported(agent)
    const away = await service.tenant()
    const reader = await away.agent({ team: 'blue' })
    assert.deepEqual((await imported(reader, text)).counts, [7, 0, 0, 0])
    const there = await all(reader)
    assert.deepEqual(
      there.map(({ title, scope, created_at, updated_at, agent_id }) => [
        title,
        scope,
        created_at,
        updated_at,
        agent_id,
      ]),
      made.map(({ title, scope, created_at, updated_at }) => [title, scope, created_at, updated_at, reader.id]),
    )
    assert.deepEqual(there[1]!.metadata, made[1]!.metadata)
    assert.equal(there[0]!.external_id, 'first')
    const related = await calls.related(reader, there[0]!.id)
    assert.deepEqual(related.map(({ memory }) => memory.title).sort(), ['Three', 'Two'])
    // Again, in pieces, as after an interrupted import.
    assert.deepEqual((await imported(reader, text)).counts, [0, 0, 7, 0])
    const lines = text.split('\n').slice(0, -1)
    for (const line of lines.slice(4)) assert.deepEqual((await imported(reader, line)).counts, [0, 0, 1, 0])
    // A memory that changed at its origin is changed; one that was deleted here is restored under its id.
    await calls.forget(reader, there[2]!.id)
    const newer = text.replace('"title":"Five"', '"title":"Fifth"')
    assert.deepEqual((await imported(reader, newer)).counts, [0, 2, 5, 0])
    const titles = ['One', 'Two', 'Three', 'Four', 'Fifth']
    assert.deepEqual(
      (await all(reader)).map(({ title, id }) => [title, id]),
      titles.map((title, i) => [title, there[i]!.id]),
    )
    // It is found by its new words.
    assert.deepEqual(ids((await calls.list(reader, { search: 'fifth' })).memories), [there[4]!.id])
  })

  test('[KEP-9] an import into the same tenant updates own memories by id, and skips others', async () => {
    const { tenant, agent, made } = await filled()
    const text = await exported(agent)
    assert.deepEqual((await imported(agent, text)).counts, [0, 0, 7, 0])
    await calls.patch(agent, made[0]!.id, { title: 'Changed' })
    await calls.promote(agent, made[4]!.id, { scope: 'institutional' })
    await calls.forget(agent, made[1]!.id)
    assert.deepEqual((await imported(agent, text)).counts, [0, 2, 5, 0])
    const [one, two, , , five] = await all(agent)
    assert.deepEqual([one!.title, two!.title, five!.scope], ['One', 'Two', 'institutional'])
    const admin = await orgAdmin(service, tenant)
    assert.deepEqual((await imported(admin, await exported(admin))).counts, [0, 0, 8, 0])
  })

  test('[KEP-9] lines without an id: an external id upserts, and the same text is the same memory', async () => {
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    const lines = [
      { ...aMemory, title: 'Named', external_id: 'n' },
      { ...aMemory, title: 'Plain' },
      { ...aMemory, title: 'Plain' },
    ]
    assert.deepEqual((await imported(agent, lines)).counts, [2, 0, 1, 0])
    assert.deepEqual((await imported(agent, lines)).counts, [0, 0, 3, 0])
    const known = (await all(agent))[0]!
    const again = [
      { ...aMemory, id: 'elsewhere', title: 'Renamed', external_id: 'n' },
      { ...aMemory, id: 'other', title: 'Other' },
      { source_memory_id: 'elsewhere', target_memory_id: 'other', relationship_type: 'supports', strength: 0.5 },
    ]
    assert.deepEqual((await imported(agent, again)).counts, [2, 1, 0, 0])
    assert.equal((await calls.get(agent, known.id)).body.title, 'Renamed')
    // The mapping holds in the next request too; a relationship is updated.
    assert.deepEqual((await imported(agent, [{ ...again[2], strength: 0.75 }])).counts, [0, 1, 0, 0])
    assert.equal((await calls.related(agent, known.id))[0]!.relationship.strength, 0.75)
  })

  test('[KEP-9] a relationship is changed by its maker and the owner of its source, and by no other', async () => {
    const tenant = await service.tenant()
    const [owner, maker, other] = [await tenant.agent(), await tenant.agent(), await tenant.agent()]
    const [from, to] = [
      await calls.make(owner, { scope: 'institutional' }),
      await calls.make(owner, { scope: 'institutional' }),
    ]
    assert.equal((await calls.relate(maker, from.id, to.id)).status, 201)
    const line = { source_memory_id: from.id, target_memory_id: to.id, relationship_type: 'supports' }
    for (const [by, strength, updated] of [
      [maker, 0.5, 1],
      [other, 0.25, 0],
      [owner, 0.75, 1],
    ] as const)
      assert.deepEqual((await imported(by, [{ ...line, strength }])).counts, [0, updated, 1 - updated, 0])
    assert.equal((await calls.related(other, from.id))[0]!.relationship.strength, 0.75)
  })

  test('[KEP-9] a deleted memory whose external id is taken is not restored; other lines go on', async () => {
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    const admin = await orgAdmin(service, tenant)
    const gone = await calls.make(agent, { title: 'Gone', external_id: 'x' })
    await calls.forget(agent, gone.id)
    const holder = await calls.make(agent, { title: 'Holder', external_id: 'x', expires_at: '2100-01-01T00:00:00Z' })
    const lines = [
      { ...aMemory, id: gone.id, title: 'Back' },
      { ...aMemory, title: 'New' },
    ]
    const { counts, errors } = await imported(admin, lines)
    assert.deepEqual(counts, [1, 0, 0, 1])
    assert.deepEqual([errors[0]!.line, errors[0]!.error.code], [1, 'conflict'])
    assert.equal((errors[0]!.error.details as { existing_resource_id: string }).existing_resource_id, holder.id)
    await calls.forget(agent, holder.id)
    assert.deepEqual((await imported(admin, lines)).counts, [0, 1, 1, 0])
    assert.equal((await calls.get(agent, gone.id)).body.title, 'Back')
  })

  test('[KEP-8] a new memory has the times of its line, but is not changed before it was made or after now', async () => {
    const agent = await (await service.tenant()).agent()
    const [early, late, now] = ['2001-01-01T00:00:00.000Z', '2002-01-01T00:00:00.000Z', service.clock.now()]
    const [present, future] = [new Date(now).toISOString(), new Date(now + 1).toISOString()]
    for (const [created_at, updated_at, ...kept] of [
      [early, late, early, late],
      [late, early, late, late],
      [early, future, early, present],
      [future, early, present, present],
    ]) {
      await imported(agent, [{ ...aMemory, title: `${created_at} ${updated_at}`, created_at, updated_at }])
      const [memory] = (await calls.list(agent, { limit: '1' })).memories
      assert.deepEqual([memory!.created_at, memory!.updated_at], kept)
    }
  })

  test('[KEP-9] a memory that comes back before its expiry is swept is found by its new facts alone', async () => {
    const agent = await (await service.tenant()).agent()
    const expires_at = new Date(service.clock.now() + 1_000).toISOString()
    const { id } = await calls.make(agent, { title: 'Pump', metadata: { hall: 'north' }, expires_at })
    await service.clock.advance(1_000)
    const line = { ...aMemory, id, title: 'Pump', metadata: { hall: 'south' } }
    assert.deepEqual((await imported(agent, [line])).counts, [0, 1, 0, 0])
    const inHall = async (hall: string) =>
      ids((await calls.search(agent, 'Pump', { metadata: { hall } })).map(({ memory }) => memory))
    assert.deepEqual([await inHall('north'), await inHall('south')], [[], [id]])
  })

  test('[KEP-8] every exported line can be imported, also of a memory of the largest size', async () => {
    const agent = await (await service.tenant()).agent()
    const brief = { ...aMemory, title: 't', content: 'c', metadata: { long: '' } }
    const metadata = { long: 'x'.repeat(1_048_576 - Buffer.byteLength(JSON.stringify(brief))) }
    const { id } = await calls.make(agent, { ...brief, metadata })
    const text = '\u0001'.repeat(32_768)
    assert.equal((await calls.patch(agent, id, { title: `t${text.slice(1)}`, content: text })).status, 200)
    const line = await exported(agent)
    assert.ok(line.length > 1_400_000)
    const other = await (await service.tenant()).agent()
    assert.deepEqual((await imported(other, line)).counts, [1, 0, 0, 0])
    assert.equal((await all(other))[0]!.content, text)
  })

  test('[KEP-8] each line is judged alone, and refused lines are reported with their number', async () => {
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    const line = (body: object) => JSON.stringify({ ...aMemory, ...body })
    const body = [
      line({ title: 'Good' }),
      '{"broken"',
      line({ type: 'none' }),
      '[]',
      '',
      line({ scope: 'team' }),
      line({ expires_at: '2001-01-01T00:00:00Z' }),
      line({ metadata: { long: 'x'.repeat(2_100_000) } }),
      JSON.stringify({ source_memory_id: 'x', target_memory_id: 'y', relationship_type: 'supports' }),
      JSON.stringify({ source_memory_id: 'x', target_memory_id: 'y', relationship_type: 'unlike' }),
      line({ title: 'Good too' }),
    ].join('\r\n')
    const { counts, errors } = await imported(agent, body)
    assert.deepEqual(counts, [2, 0, 0, 8])
    assert.deepEqual(
      errors.map(({ line: number, error }) => [number, error.code, error.details['field'] ?? null]),
      [
        [2, 'validation_failed', 'body'],
        [3, 'validation_failed', 'type'],
        [4, 'validation_failed', 'body'],
        [6, 'validation_failed', 'team_id'],
        [7, 'validation_failed', 'expires_at'],
        [8, 'payload_too_large', null],
        [9, 'not_found', null],
        [10, 'validation_failed', 'relationship_type'],
      ],
    )
    assert.deepEqual((await imported(agent, '')).counts, [0, 0, 0, 0])
  })

  test('[KEP-8] the first thousand lines that are refused are reported, and all are counted', async () => {
    const { counts, errors } = await imported(await (await service.tenant()).agent(), '[]\n'.repeat(1_001))
    assert.deepEqual([counts, errors.length, errors.at(-1)!.line], [[0, 0, 0, 1_001], 1_000, 1_000])
  })

  test('[KEP-8] a quota holds for imports; lines over it are refused one by one', async () => {
    const { tenant, agent } = await filled()
    const { id } = tenant
    await service.store.tx((tx) =>
      tx.run(`insert into tenant_settings (tenant_id, settings, version) values (?, ?, 1)`, [
        id,
        JSON.stringify({ quota_memories: 6 }),
      ]),
    )
    await service.clock.advance(1000)
    // A deleted memory that would come back needs room like a new one.
    const [gone] = (await calls.list(agent, { status: 'deleted' })).memories
    const { counts, errors } = await imported(agent, [
      ...['A', 'B', 'C'].map((title) => ({ ...aMemory, title })),
      { ...aMemory, id: gone!.id },
    ])
    assert.deepEqual(counts, [0, 0, 0, 4])
    assert.equal(errors[0]!.error.details['rule'], 'quota_exceeded')
  })

  test('[KEP-8] scopes, media types, size and retries', async () => {
    const tenant: TestTenant = await service.tenant()
    const agent: TestAgent = await tenant.agent()
    const reader = await tenant.agent({ scopes: ['memory:read'] })
    const lines = [{ ...aMemory, title: 'Once' }]
    assertError(await send(reader, lines), 'insufficient_scope', { required_scope: 'memory:write' })
    assertError(await send(agent, lines, { 'content-type': 'application/json' }), 'unsupported_media_type')
    assertError(await send(agent, lines, { 'content-encoding': 'gzip' }), 'unsupported_media_type')
    const key = { 'idempotency-key': 'import-1' }
    const first = await send(agent, lines, key)
    const second = await send(agent, lines, key)
    assert.deepEqual(second.body, first.body)
    assert.equal(first.body.created, 1)
    assert.equal(second.headers.get('idempotent-replayed'), 'true')
    assertError(await send(agent, [{ ...aMemory, title: 'Another' }], key), 'conflict')
    const { details } = (
      await service.call<{ error: { details: object } }>('POST /v1/memories/import', {
        token: agent.token,
        headers: NDJSON,
        raw: Buffer.alloc(MAX_IMPORT + 1, 10),
      })
    ).body.error
    assert.deepEqual(details, { actual_size: MAX_IMPORT + 1, max_size: MAX_IMPORT })
    // Concurrent imports take turns, and none is lost.
    const many = await Promise.all(
      Array.from({ length: 6 }, (_, i) => imported(agent, [{ ...aMemory, title: `Turn ${i}` }])),
    )
    assert.deepEqual(
      many.map(({ counts }) => counts),
      Array(6).fill([1, 0, 0, 0]),
    )
  })
})
