// What counts toward a tenant's quota of stored bytes, and that nothing is counted or given back twice.
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import type { ImportedMemories, Memory, Relationship, TenantSettings } from '@sensorium/contract'
import type { Principal } from '../../src/auth/principal.ts'
import { importRelationship } from '../../src/memory/transfer/import-relationship.ts'
import type { Db } from '../../src/store/db.ts'
import { makeQuotas, type Quotas } from '../../src/tenants/quotas.ts'
import { NO_SETTINGS } from '../../src/tenants/settings.ts'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { overOrWaiting } from '../support/over-or-waiting.ts'
import { serviceForSuite, type Reply, type TestAgent, type TestTenant } from '../support/service.ts'
import { memoryCalls } from '../memory/tools.ts'
import { setSettings } from './tools.ts'

const NOTE = { type: 'semantic', scope: 'agent', title: 'A note', content: 'short', metadata: {} }

onBothEngines((engine) => {
  const service = serviceForSuite(engine, { RATE_LIMIT_AGENT: '1000', RATE_LIMIT_TENANT: '2000' })
  let tenant: TestTenant
  let agent: TestAgent
  beforeEach(async () => {
    tenant = await service.tenant()
    agent = await tenant.agent()
  })

  const call = <T = unknown>(operation: string, body?: object): Promise<Reply<T>> =>
    service.call(operation, { token: agent.token, body })
  const remember = async (): Promise<string> => (await call<Memory>('POST /v1/memories', NOTE)).body.id
  const relate = (from: string, to: string, long: number): Promise<Reply<Relationship>> =>
    call(`POST /v1/memories/${from}/relationships`, {
      target_memory_id: to,
      relationship_type: 'supports',
      metadata: { long: 'x'.repeat(long) },
    })
  const imported = (...lines: object[]): Promise<Reply<ImportedMemories>> =>
    memoryCalls(service).importLines(agent, lines)
  const erase = (id: string): Promise<Reply<unknown>> =>
    service.call(`DELETE /v1/memories/${id}?erase=true`, { token: tenant.admin })

  const shardsOf = async (metric: string): Promise<number[]> =>
    (
      await service.store.rows<{ amount: number }>('select amount from usage_days where tenant_id = ? and metric = ?', [
        tenant.id,
        metric,
      ])
    ).map(({ amount }) => Number(amount))
  const total = (amounts: readonly number[]): number => amounts.reduce((sum, amount) => sum + amount, 0)
  const counted = async (): Promise<number> => total(await shardsOf('stored_bytes'))
  /** Sets the quota, of which a node reads how much is used once a second. */
  async function limitTo(bytes: number): Promise<void> {
    await setSettings(service, tenant, { quota_stored_bytes: bytes })
    await service.clock.jump(2_000)
  }
  const quotasOf = (settings: Partial<TenantSettings>): Quotas =>
    makeQuotas(service.store, service.clock, () => ({ ...NO_SETTINGS, ...settings }))
  /** Imports a relationship in a transaction. */
  function importSupports(tx: Db, quotas: Quotas, from: string, to: string): Promise<string> {
    const { id, key: keyId } = agent
    const principal: Principal = { kind: 'agent', id, tenantId: tenant.id, keyId, scopes: new Set(), teamId: null }
    const tools = { makeId: () => 'rel_new', now: service.clock.now, quotas }
    const line = { source_memory_id: from, target_memory_id: to, relationship_type: 'supports', metadata: {} } as const
    return importRelationship(tx, tools, principal, line)
  }
  const isExceeded = (reply: Reply<unknown>, limit: number): void => {
    const { rule, quota, limit: told } = assertError(reply, 'business_rule_violation')
    assert.deepEqual({ rule, quota, told }, { rule: 'quota_exceeded', quota: 'quota_stored_bytes', told: limit })
  }

  test('[POL-12] bytes that a change adds are stored bytes, and an erasure gives back no more', async () => {
    const long = 'x'.repeat(3_000)
    await limitTo(5_000)
    const id = await remember()
    assert.equal((await call(`PATCH /v1/memories/${id}`, { content: long })).status, 200)
    isExceeded(await call(`PATCH /v1/memories/${id}`, { metadata: { long } }), 5_000)
    const put = (content: string) => call('PUT /v1/memories/by-external-id/a', { ...NOTE, content })
    isExceeded(await put(long), 5_000)
    assert.equal((await put('short')).status, 201)
    isExceeded(await put(long), 5_000)
    assert.equal((await call(`PATCH /v1/memories/${id}`, { content: 'short' })).status, 200)
    await service.clock.jump(2_000)
    assert.equal((await call(`POST /v1/memories/${id}/restore`, { version: 2 })).status, 200)
    await service.clock.jump(2_000)
    const { body, text } = await imported({ ...NOTE, external_id: 'a', content: long })
    assert.equal(body.errors[0]?.error.details['quota'], 'quota_stored_bytes', text)
    assert.equal((await call(`DELETE /v1/memories/${id}?erase=true`)).status, 403)
    assert.equal((await erase(id)).status, 204)
    assert.equal(await counted(), Buffer.byteLength('A noteshort{}'))
  })

  test('[POL-12] a change that adds no bytes needs no room, even where the quota is exceeded', async () => {
    const id = await remember()
    await limitTo(1)
    assert.equal((await call(`PATCH /v1/memories/${id}`, { content: 'SHORT', confidence: 0.5 })).status, 200)
    isExceeded(await call(`PATCH /v1/memories/${id}`, { content: 'longer' }), 1)
  })

  test('[POL-12] relationships are stored bytes, and each way to delete one gives them back', async () => {
    const [a, b, c, d] = [await remember(), await remember(), await remember(), await remember()]
    const before = await counted()
    const each = 300 + Buffer.byteLength('{"long":""}')
    await limitTo(before + 4_000)

    const { id } = (await relate(a, b, 1_000)).body
    assert.equal(await counted(), before + each + 1_000)
    isExceeded(await relate(a, c, 3_000), before + 4_000)
    const line = { source_memory_id: a, target_memory_id: b, relationship_type: 'supports', strength: 0.5 }
    assert.equal((await imported({ ...line, metadata: { long: '' } })).body.updated, 1)
    assert.equal(await counted(), before + each)
    assert.equal((await imported({ ...line, target_memory_id: c, metadata: { long: 'xxx' } })).body.created, 1)
    assert.equal(await counted(), before + 2 * each + 3)

    assert.equal((await call(`DELETE /v1/memories/${a}/relationships/${id}`)).status, 204)
    assert.equal(await counted(), before + each + 3)
    assert.equal((await relate(d, c, 0)).status, 201)
    // Of the two that become the same in a merge, one is dropped.
    assert.equal((await call(`POST /v1/memories/${a}/merge`, { memory_ids: [d] })).status, 200)
    const texts = await service.store.rows<{ bytes: number }>(
      'select octet_length(title) + octet_length(content) + octet_length(metadata) as bytes from memories where tenant_id = ?',
      [tenant.id],
    )
    const ofMemories = total(texts.map(({ bytes }) => Number(bytes)))
    assert.ok([each, each + 3].includes((await counted()) - ofMemories))
    for (const memory of [a, b, c, d]) assert.equal((await erase(memory)).status, 204)
    assert.equal(await counted(), 0)
  })

  test('[POL-12] a relationship that exists already needs no room, one that grows needs some', async () => {
    const [a, b, c] = [await remember(), await remember(), await remember()]
    const line = { source_memory_id: a, target_memory_id: b, relationship_type: 'supports', strength: 0.5 }
    const long = (length: number) => ({ ...line, metadata: { long: 'x'.repeat(length) } })
    assert.equal((await imported(long(10))).body.created, 1)
    const before = await counted()
    await limitTo(before + 10)
    for (let i = 0; i < 4; i++) assertError(await relate(a, b, 2_000), 'conflict')
    assert.equal((await imported(long(10))).body.skipped, 1)
    assert.equal((await imported(long(13))).body.updated, 1)
    const grown = await imported(long(40))
    assert.equal(grown.body.errors[0]?.error.details['quota'], 'quota_stored_bytes', grown.text)
    for (let i = 0; i < 3; i++) assert.equal((await imported({ ...long(0), target_memory_id: c })).body.failed, 1)
    assert.equal((await imported(long(0))).body.updated, 1)
    assert.equal(await counted(), before - 10)
  })

  test('[POL-12] a relationship that is deleted while an import changes it is counted once', async () => {
    const [a, b] = [await remember(), await remember()]
    const before = await counted()
    const { id } = (await relate(a, b, 900)).body
    let deleted: Promise<Reply<unknown>> | undefined
    await service.store.tx(async (tx) => {
      // The deletion arrives when the relationship was read. It waits for its lock, or comes to its end.
      const meanwhile: Db = {
        ...tx,
        async rows(sql, values) {
          const found = await tx.rows<never>(sql, values)
          if (!sql.includes('from memory_relationships') || !sql.includes('strength') || deleted) return found
          deleted = call(`DELETE /v1/memories/${a}/relationships/${id}`)
          await overOrWaiting(service.store, deleted)
          return found
        },
      }
      await importSupports(meanwhile, quotasOf({}), a, b)
    })
    assert.equal((await deleted)!.status, 204)
    assert.equal(await counted(), before)
  })

  test('[POL-12] an import gives room back if another request makes its relationship first', async () => {
    const [a, b] = [await remember(), await remember()]
    const limit = (await counted()) + 2_000
    const quotas = quotasOf({ quota_stored_bytes: limit })
    let isMade = false
    const outcome = await service.store.tx((tx) =>
      importSupports(
        {
          ...tx,
          async run(sql, values) {
            // With one writer nobody comes in between.
            if (sql.includes('into memory_relationships') && !isMade) {
              isMade = true
              if (service.store.isShared) assert.equal((await relate(a, b, 900)).status, 201)
              else await tx.run(sql, values)
            }
            return tx.run(sql, values)
          },
        },
        quotas,
        a,
        b,
      ),
    )
    assert.deepEqual([isMade, outcome], [true, service.store.isShared ? 'updated' : 'skipped'])
    assert.equal(await quotas.take(tenant.id, 0, limit - (await counted())), null)
  })

  test('[POL-12] a memory that is refused for its external id counts no bytes', async () => {
    await limitTo(1_000)
    const keep = (content: string) => call('POST /v1/memories', { ...NOTE, content, external_id: 'a' })
    assert.equal((await keep('short')).status, 201)
    for (let i = 0; i < 3; i++) assertError(await keep('x'.repeat(600)), 'conflict')
  })

  test('[TEN-4] the lines of one transaction are metered in one shard, so that imports cannot deadlock', async () => {
    const lines = Array.from({ length: 64 }, (_, i) => ({ ...NOTE, title: `Memory ${i}` }))
    assert.equal((await imported(...lines)).body.created, 64)
    const shards = await shardsOf('memories')
    assert.equal(total(shards), 64)
    // Eight transactions of eight lines; with a shard for each line it would be about forty.
    assert.ok(shards.length <= 8, `${shards.length} shards`)
  })
})
