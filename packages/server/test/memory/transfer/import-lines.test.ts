// The lines of an import, each of which is accepted or refused on its own.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAX_IMPORT } from '@sensorium/contract'
import { onBothEngines } from '../../support/engines.ts'
import { assertError } from '../../support/expect.ts'
import { serviceForSuite } from '../../support/service.ts'
import { filledTenant } from './filled-tenant.ts'
import { aMemory, memoryCalls } from '../tools.ts'

onBothEngines((engine) => {
  const service = serviceForSuite(engine, { MAX_MEMORY_BYTES: '1048576' })
  const calls = memoryCalls(service)

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
      await calls.imported(agent, [{ ...aMemory, title: `${created_at} ${updated_at}`, created_at, updated_at }])
      const [memory] = (await calls.list(agent, { limit: '1' })).memories
      assert.deepEqual([memory!.created_at, memory!.updated_at], kept)
    }
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
    const { counts, errors } = await calls.imported(agent, body)
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
    assert.deepEqual((await calls.imported(agent, '')).counts, [0, 0, 0, 0])
  })

  test('[KEP-8] the first thousand lines that are refused are reported, and all are counted', async () => {
    const { counts, errors } = await calls.imported(await (await service.tenant()).agent(), '[]\n'.repeat(1_001))
    assert.deepEqual([counts, errors.length, errors.at(-1)!.line], [[0, 0, 0, 1_001], 1_000, 1_000])
  })

  test('[KEP-8] a quota holds for imports; lines over it are refused one by one', async () => {
    const { tenant, agent } = await filledTenant(service)
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
    const { counts, errors } = await calls.imported(agent, [
      ...['A', 'B', 'C'].map((title) => ({ ...aMemory, title })),
      { ...aMemory, id: gone!.id },
    ])
    assert.deepEqual(counts, [0, 0, 0, 4])
    assert.equal(errors[0]!.error.details['rule'], 'quota_exceeded')
  })

  test('[KEP-8] scopes, media types, size and retries', async () => {
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    const reader = await tenant.agent({ scopes: ['memory:read'] })
    const lines = [{ ...aMemory, title: 'Once' }]
    assertError(await calls.importLines(reader, lines), 'insufficient_scope', { required_scope: 'memory:write' })
    assertError(await calls.importLines(agent, lines, { 'content-type': 'application/json' }), 'unsupported_media_type')
    assertError(await calls.importLines(agent, lines, { 'content-encoding': 'gzip' }), 'unsupported_media_type')
    const key = { 'idempotency-key': 'import-1' }
    const first = await calls.importLines(agent, lines, key)
    const second = await calls.importLines(agent, lines, key)
    assert.deepEqual(second.body, first.body)
    assert.equal(first.body.created, 1)
    assert.equal(second.headers.get('idempotent-replayed'), 'true')
    assertError(await calls.importLines(agent, [{ ...aMemory, title: 'Another' }], key), 'conflict')
    const tooLong = await calls.importLines(agent, '\n'.repeat(MAX_IMPORT + 1))
    assertError(tooLong, 'payload_too_large', { actual_size: MAX_IMPORT + 1, max_size: MAX_IMPORT })
    // Concurrent imports take turns, and none is lost.
    const many = await Promise.all(
      Array.from({ length: 6 }, (_, i) => calls.imported(agent, [{ ...aMemory, title: `Turn ${i}` }])),
    )
    assert.deepEqual(
      many.map(({ counts }) => counts),
      Array(6).fill([1, 0, 0, 0]),
    )
  })
})
