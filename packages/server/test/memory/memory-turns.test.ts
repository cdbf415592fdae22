// Long work on memories leaves turns of the event loop, and connections, to other requests.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operations } from '@sensorium/contract'
import type { Principal } from '../../src/auth/principal.ts'
import { makeStepTurns, nextTurn, type StepTurns } from '../../src/kernel/step-turns.ts'
import { forgetMemory } from '../../src/memory/forget.ts'
import { mergeMemories } from '../../src/memory/merge.ts'
import { makeRecall } from '../../src/memory/recall.ts'
import { exportMemories } from '../../src/memory/transfer/export.ts'
import type { Db, Value } from '../../src/store/db.ts'
import { makeQuotas } from '../../src/tenants/quotas.ts'
import { NO_SETTINGS } from '../../src/tenants/settings.ts'
import { countedReads } from '../support/counted-reads.ts'
import { onBothEngines } from '../support/engines.ts'
import { START } from '../support/fake-clock.ts'
import { serviceForSuite } from '../support/service.ts'
import { aMemory, memoryCalls } from './tools.ts'

const adminOf = (tenantId: string): Principal => ({
  kind: 'org_admin',
  id: 'adm_x',
  tenantId,
  teamId: null,
  keyId: 'k',
  scopes: new Set(),
})

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const calls = memoryCalls(service)

  test('[SAFE-42] an export does not read long metadata by look-up: other look-ups would wait', async () => {
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    const [one, two] = [await calls.make(agent, { title: 'One' }), await calls.make(agent, { title: 'Two' })]
    const metadata = { long: 'x'.repeat(20_000) }
    assert.equal((await calls.relate(agent, one.id, two.id, { metadata })).status, 201)
    const db = { ...service.store, lookUp: () => assert.fail('a look-up') }
    const lines: string[] = []
    for await (const line of exportMemories(db, adminOf(tenant.id), { since: null, now: START })) lines.push(line)
    assert.ok(lines.at(-1)!.includes(JSON.stringify(metadata)), 'it is there')
  })

  test('[RCL-2] long memories are read 256 KiB at a time, by the bytes of their texts', async () => {
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    for (let i = 0; i < 6; i++) await calls.make(agent, { title: `Long ${i}`, content: '€'.repeat(30_000) })
    const { db, most } = countedReads(service.store)
    let text = ''
    for await (const line of exportMemories(db, adminOf(tenant.id), { since: null, now: START })) text += line
    assert.equal(text.match(/€{30000}/g)?.length, 6)
    assert.ok(most.atOnce < 262_144, `${most.atOnce} bytes at once`)
  })

  test('[KEP-7] an export leaves others a turn after each page, if it has nothing to write too', async () => {
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    const lines = Array.from({ length: 250 }, (_, i) => ({ ...aMemory, title: `T ${i}` }))
    assert.deepEqual((await calls.imported(agent, lines)).counts, [250, 0, 0, 0])
    let isDone = false
    async function exported(): Promise<void> {
      const later = { since: START + 3_600_000, now: START }
      for await (const line of exportMemories(service.store, adminOf(tenant.id), later)) assert.equal(line, '')
    }
    const done = exported().finally(() => (isDone = true))
    let turns = 0
    for (; !isDone; turns++) await nextTurn()
    await done
    assert.ok(turns >= 4, `${turns} turns for three pages of memories and of relationships`)
  })

  test('[RCL-56] one of several long queries is split into words per turn; a short one does not wait', async () => {
    const tenant = await service.tenant()
    const { memory } = service.app
    let inTurn = 0
    const index: typeof memory.index = {
      ...memory.index,
      find(search) {
        inTurn++
        return memory.index.find(search)
      },
    }
    const recallWith = (steps: StepTurns) =>
      makeRecall({
        ...memory,
        index,
        model: 'none',
        embedQuery: async () => null,
        clock: service.clock,
        rerank: null,
        steps,
      })
    const recall = recallWith(makeStepTurns())
    let found = 0
    let most = 0
    for (let i = 0; i < 10; i++)
      void recall(adminOf(tenant.id), `word${i} `.repeat(4_000)).then((ranked) => (found += 1 + ranked.length))
    while (found < 10) {
      await nextTurn()
      most = Math.max(most, inTurn)
      inTurn = 0
    }
    assert.equal(most, 1)
    const short = recallWith({ take: () => assert.fail('it waited') })
    assert.deepEqual(await short(adminOf(tenant.id), 'a few words'), [])
  })

  test('[KEP-15] merging or deleting a memory reads and writes none of its text', async () => {
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    const long = 'x'.repeat(50_000)
    const into = await calls.make(agent, { title: 'Into' })
    const others: string[] = []
    for (let i = 0; i < 3; i++) others.push((await calls.make(agent, { title: `One ${i}`, metadata: { long } })).id)
    const [gone, ...merged] = others
    let characters = 0
    const note = (texts: readonly unknown[]): void => {
      for (const text of texts) if (typeof text === 'string') characters += text.length
    }
    await service.store.tx(async (tx) => {
      const db: Db = {
        ...tx,
        async rows<R>(sql: string, values?: readonly Value[]) {
          const rows = await tx.rows<R>(sql, values)
          for (const row of rows) note(Object.values(row as object))
          return rows
        },
        run(sql, values) {
          note(values ?? [])
          return tx.run(sql, values)
        },
      }
      const quotas = makeQuotas(service.store, service.clock, () => NO_SETTINGS)
      const tools = { now: service.clock.now, index: service.app.memory.index, quotas }
      await mergeMemories(db, tools, adminOf(tenant.id), into.id, merged)
      await forgetMemory(db, tools, adminOf(tenant.id), gone!)
    })
    assert.ok(characters > 0 && characters < long.length, `${characters} characters`)
    assert.deepEqual((await calls.get(agent, into.id)).body.metadata, { derived_from: merged })
    for (const id of others) assert.equal((await calls.get(agent, id)).status, 404)
  })

  test('[REL-16] concurrent traversals share the turns between their pages', async () => {
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    // 60 memories, all related to all: 3,540 relationships, four pages.
    const lines = Array.from({ length: 60 }, (_, i) => ({ ...aMemory, title: `T ${i}` }))
    assert.deepEqual((await calls.imported(agent, lines)).counts, [60, 0, 0, 0])
    const written = await service.store.tx((tx) =>
      tx.run(
        `insert into memory_relationships
           (tenant_id, id, source_memory_id, target_memory_id, relationship_type, strength, created_by, created_at)
         select a.tenant_id, a.id || b.id, a.id, b.id, 'part_of', 1, a.agent_id, a.created_at
           from memories a join memories b on b.tenant_id = a.tenant_id and b.id <> a.id where a.tenant_id = ?`,
        [tenant.id],
      ),
    )
    assert.equal(written, 3_540)
    const { memories } = await calls.list(agent, { limit: '1' })
    const input = { params: { id: memories[0]!.id }, query: { depth: '3' } }
    const traversal = () => service.app.operations.perform(adminOf(tenant.id), operations.listRelationships, input)
    let isDone = false
    const both = Promise.all([traversal(), traversal()]).finally(() => (isDone = true))
    let turns = 0
    for (; !isDone; turns++) await nextTurn()
    assert.deepEqual(
      (await both).map(({ status }) => status),
      [200, 200],
    )
    assert.ok(turns >= 8, `${turns} turns`)
  })
})
