// Import of memories: which memory a line becomes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothEngines } from '../../support/engines.ts'
import { serviceForSuite } from '../../support/service.ts'
import { filledTenant } from './filled-tenant.ts'
import { aMemory, ids, memoryCalls, orgAdmin, type Actor } from '../tools.ts'

onBothEngines((engine) => {
  const service = serviceForSuite(engine, { MAX_MEMORY_BYTES: '1048576' })
  const calls = memoryCalls(service)

  const all = async (by: Actor) => (await calls.list(by, { limit: '200' })).memories.reverse()

  test('[KEP-8] [KEP-9] an import into another tenant maps ids to the caller’s own memories, once', async () => {
    const { agent, made } = await filledTenant(service)
    const text = await calls.exported(agent)
    const away = await service.tenant()
    const reader = await away.agent({ team: 'blue' })
    assert.deepEqual((await calls.imported(reader, text)).counts, [7, 0, 0, 0])
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
    assert.deepEqual((await calls.imported(reader, text)).counts, [0, 0, 7, 0])
    const lines = text.split('\n').slice(0, -1)
    for (const line of lines.slice(4)) assert.deepEqual((await calls.imported(reader, line)).counts, [0, 0, 1, 0])
    // A memory that changed at its origin is changed; one that was deleted here is restored under its id.
    await calls.forget(reader, there[2]!.id)
    const newer = text.replace('"title":"Five"', '"title":"Fifth"')
    assert.deepEqual((await calls.imported(reader, newer)).counts, [0, 2, 5, 0])
    const titles = ['One', 'Two', 'Three', 'Four', 'Fifth']
    assert.deepEqual(
      (await all(reader)).map(({ title, id }) => [title, id]),
      titles.map((title, i) => [title, there[i]!.id]),
    )
    // It is found by its new words.
    assert.deepEqual(ids((await calls.list(reader, { search: 'fifth' })).memories), [there[4]!.id])
  })

  test('[KEP-9] an import into the same tenant updates own memories by id, and skips others', async () => {
    const { tenant, agent, made } = await filledTenant(service)
    const text = await calls.exported(agent)
    assert.deepEqual((await calls.imported(agent, text)).counts, [0, 0, 7, 0])
    await calls.patch(agent, made[0]!.id, { title: 'Changed' })
    await calls.promote(agent, made[4]!.id, { scope: 'institutional' })
    await calls.forget(agent, made[1]!.id)
    assert.deepEqual((await calls.imported(agent, text)).counts, [0, 2, 5, 0])
    const [one, two, , , five] = await all(agent)
    assert.deepEqual([one!.title, two!.title, five!.scope], ['One', 'Two', 'institutional'])
    const admin = await orgAdmin(service, tenant)
    assert.deepEqual((await calls.imported(admin, await calls.exported(admin))).counts, [0, 0, 8, 0])
  })

  test('[KEP-9] lines without an id: an external id upserts, and the same text is the same memory', async () => {
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    const lines = [
      { ...aMemory, title: 'Named', external_id: 'n' },
      { ...aMemory, title: 'Plain' },
      { ...aMemory, title: 'Plain' },
    ]
    assert.deepEqual((await calls.imported(agent, lines)).counts, [2, 0, 1, 0])
    assert.deepEqual((await calls.imported(agent, lines)).counts, [0, 0, 3, 0])
    const known = (await all(agent))[0]!
    const again = [
      { ...aMemory, id: 'elsewhere', title: 'Renamed', external_id: 'n' },
      { ...aMemory, id: 'other', title: 'Other' },
      { source_memory_id: 'elsewhere', target_memory_id: 'other', relationship_type: 'supports', strength: 0.5 },
    ]
    assert.deepEqual((await calls.imported(agent, again)).counts, [2, 1, 0, 0])
    assert.equal((await calls.get(agent, known.id)).body.title, 'Renamed')
    // The mapping holds in the next request too; a relationship is updated.
    assert.deepEqual((await calls.imported(agent, [{ ...again[2], strength: 0.75 }])).counts, [0, 1, 0, 0])
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
      assert.deepEqual((await calls.imported(by, [{ ...line, strength }])).counts, [0, updated, 1 - updated, 0])
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
    const { counts, errors } = await calls.imported(admin, lines)
    assert.deepEqual(counts, [1, 0, 0, 1])
    assert.deepEqual([errors[0]!.line, errors[0]!.error.code], [1, 'conflict'])
    assert.equal((errors[0]!.error.details as { existing_resource_id: string }).existing_resource_id, holder.id)
    await calls.forget(agent, holder.id)
    assert.deepEqual((await calls.imported(admin, lines)).counts, [0, 1, 1, 0])
    assert.equal((await calls.get(agent, gone.id)).body.title, 'Back')
  })

  test('[KEP-9] a memory that comes back before its expiry is swept is found by its new facts alone', async () => {
    const agent = await (await service.tenant()).agent()
    const expires_at = new Date(service.clock.now() + 1_000).toISOString()
    const { id } = await calls.make(agent, { title: 'Pump', metadata: { hall: 'north' }, expires_at })
    await service.clock.advance(1_000)
    const line = { ...aMemory, id, title: 'Pump', metadata: { hall: 'south' } }
    assert.deepEqual((await calls.imported(agent, [line])).counts, [0, 1, 0, 0])
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
    const line = await calls.exported(agent)
    assert.ok(line.length > 1_400_000)
    const other = await (await service.tenant()).agent()
    assert.deepEqual((await calls.imported(other, line)).counts, [1, 0, 0, 0])
    assert.equal((await all(other))[0]!.content, text)
  })
})
