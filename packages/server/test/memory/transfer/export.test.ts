// Export of memories.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Memory, Relationship } from '@sensorium/contract'
import { onBothEngines } from '../../support/engines.ts'
import { assertError } from '../../support/expect.ts'
import { serviceForSuite } from '../../support/service.ts'
import { filledTenant } from './filled-tenant.ts'
import { aMemory, ids, memoryCalls, orgAdmin } from '../tools.ts'

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const calls = memoryCalls(service)

  const parsed = (text: string) =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Memory & Relationship)

  test('[KEP-7] an export has visible memories, then relationships, oldest first, from `since` on', async () => {
    const { tenant, agent, other, made } = await filledTenant(service)
    const lines = parsed(await calls.exported(agent))
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
      parsed(await calls.exported(other)).map(({ title }) => title),
      ['Three', 'Four', 'Hidden'],
    )
    assert.equal(parsed(await calls.exported(await orgAdmin(service, tenant))).length, 8)
    const since = parsed(await calls.exported(agent, `?since=${made[4]!.created_at}`))
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
      (await calls.list(agent)).memories.map(({ accessed_at }) => accessed_at),
      made.map(({ accessed_at }) => accessed_at).reverse(),
    )
    const empty = await (await service.tenant()).agent()
    assert.equal(await calls.exported(empty), '')
  })

  test('[KEP-7] an export of many pages, and of a memory with very many relationships', async () => {
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    const lines: object[] = Array.from({ length: 620 }, (_, i) => ({ ...aMemory, id: `old-${i}`, title: `T ${i}` }))
    for (let i = 1; i < 620; i++)
      lines.push({ source_memory_id: 'old-0', target_memory_id: `old-${i}`, relationship_type: 'part_of' })
    assert.deepEqual((await calls.imported(agent, lines)).counts, [1239, 0, 0, 0])
    const out = parsed(await calls.exported(agent))
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
    const out = parsed(await calls.exported(agent)).slice(3)
    const shown = out.map((line) => [line.source_memory_id, line.target_memory_id, line.relationship_type])
    assert.deepEqual(
      shown,
      edges.toSorted((a, b) => (a.join(' ') < b.join(' ') ? -1 : 1)),
    )
  })
})
