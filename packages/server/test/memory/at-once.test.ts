// Two verbs on the same memories at once: on PostgreSQL they run concurrently, with one writer one after the other.
import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import type { ImportedMemories, Memory } from '@sensorium/contract'
import { putAgent } from '../../src/agents/put.ts'
import type { Principal } from '../../src/auth/principal.ts'
import { idMaker } from '../../src/kernel/ids.ts'
import { mergeMemories } from '../../src/memory/merge.ts'
import { putMemory } from '../../src/memory/put.ts'
import { unrelate } from '../../src/memory/relate.ts'
import type { MemoryTools } from '../../src/memory/remember.ts'
import { importMemory } from '../../src/memory/transfer/import-memory.ts'
import { originOfLine } from '../../src/memory/transfer/origin.ts'
import type { Db } from '../../src/store/db.ts'
import { makeQuotas } from '../../src/tenants/quotas.ts'
import { NO_SETTINGS } from '../../src/tenants/settings.ts'
import { setSettings } from '../tenants/tools.ts'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { overOrWaiting } from '../support/over-or-waiting.ts'
import { serviceForSuite, type Reply, type TestAgent, type TestTenant } from '../support/service.ts'
import { aMemory, memoryCalls } from './tools.ts'

onBothEngines((engine) => {
  describe('memories that two change at once', () => {
    const service = serviceForSuite(engine)
    let tenant: TestTenant
    let agent: TestAgent
    const calls = memoryCalls(service)
    let tools: MemoryTools
    let principal: Principal
    beforeEach(async () => {
      const { store, clock, app } = service
      tenant = await service.tenant()
      agent = await tenant.agent()
      const quotas = makeQuotas(store, clock, () => NO_SETTINGS)
      tools = { quotas, makeId: idMaker(clock.now), now: clock.now, index: app.memory.index }
      principal = { kind: 'agent', id: agent.id, tenantId: tenant.id, teamId: null } as Principal
    })

    /** Runs `one` in a transaction that commits once `other` is over or waits. Returns the response of `other`. */
    async function beside<R>(one: (tx: Db) => Promise<unknown>, other: () => Promise<Reply<R>>): Promise<Reply<R>> {
      let responding!: Promise<Reply<R>>
      await service.store.tx(async (tx) => {
        await one(tx)
        responding = other()
        await overOrWaiting(service.store, responding)
      })
      return responding
    }

    const send = (lines: object[]) => calls.importLines(agent, lines)

    /** Two memories that support a third, the second one more strongly. */
    async function parallel() {
      const [into, other, target] = [await calls.make(agent), await calls.make(agent), await calls.make(agent)]
      const strengths = [0.5, 0.9]
      const made = []
      for (const [i, { id }] of [into, other].entries())
        made.push(await calls.relate(agent, id, target.id, { strength: strengths[i] }))
      const strengthsOf = async (id: string) =>
        (await calls.related(agent, id)).map(({ relationship }) => relationship.strength)
      return { into, other, stronger: made[1]!.body.id, strengthsOf }
    }

    test('[RACE-16] [KEP-13] a merge beside the deletion of the stronger relationship keeps the weaker one', async () => {
      const { into, other, stronger, strengthsOf } = await parallel()
      const merged = await beside(
        (tx) => unrelate(tx, service.clock.now(), principal, other.id, stronger),
        () =>
          service.call(`POST /v1/memories/${into.id}/merge`, {
            token: agent.token,
            body: { memory_ids: [other.id] },
          }),
      )
      assert.equal(merged.status, 200, merged.text)
      assert.deepEqual(await strengthsOf(into.id), [0.5])
    })

    test('[RACE-16] [KEP-13] a relationship that a merge has moved meanwhile is not deleted by its old path', async () => {
      const { into, other, stronger, strengthsOf } = await parallel()
      const deleted = await beside(
        (tx) => mergeMemories(tx, tools, principal, into.id, [other.id]),
        () => calls.unrelate(agent, other.id, stronger),
      )
      assertError(deleted, 'not_found')
      assert.deepEqual(await strengthsOf(into.id), [0.9])
    })

    test('[RACE-16] [KEP-31] a merge that pages through relationships loses none that another merge moves', async () => {
      const make = () => calls.make(agent)
      const [a, b, into, other] = [await make(), await make(), await make(), await make()]
      // Between a and b, so that the relationship of b, which moves to a, would move from the second page to the first.
      const sources = Array.from({ length: 520 }, (_, i) => `${a.id}${String(i).padStart(4, '0')}`)
      await service.store.tx(async (tx) => {
        for (const source of sources)
          await tx.run(
            `insert into memory_relationships
               (tenant_id, id, source_memory_id, target_memory_id, relationship_type, strength, created_by, created_at)
             values (?, ?, ?, ?, 'supports', 0.5, ?, 0)`,
            [tenant.id, tools.makeId('relationship'), source, other.id, agent.id],
          )
      })
      assert.equal((await calls.relate(agent, b.id, other.id)).status, 201)
      const reply = await beside<Memory>(
        (tx) => mergeMemories(tx, tools, principal, a.id, [b.id]),
        () =>
          service.call(`POST /v1/memories/${into.id}/merge`, { token: agent.token, body: { memory_ids: [other.id] } }),
      )
      assert.equal(reply.status, 200, reply.text)
      assert.deepEqual(
        (await calls.related(agent, a.id)).map(({ relationship }) => relationship.target_memory_id),
        [into.id],
      )
    })

    test('[RACE-5] two concurrent merges of related memories leave one relationship of each type', async () => {
      const [a, b, x, y] = [
        await calls.make(agent),
        await calls.make(agent),
        await calls.make(agent),
        await calls.make(agent),
      ]
      assert.equal((await calls.relate(agent, a.id, b.id)).status, 201)
      assert.equal((await calls.relate(agent, x.id, y.id)).status, 201)
      const reply = await beside<Memory>(
        (tx) => mergeMemories(tx, tools, principal, a.id, [x.id]),
        () => service.call(`POST /v1/memories/${b.id}/merge`, { token: agent.token, body: { memory_ids: [y.id] } }),
      )
      assert.equal(reply.status, 200, reply.text)
      const related = await calls.related(agent, a.id)
      assert.deepEqual(
        related.map(({ relationship }) => relationship.target_memory_id),
        [b.id],
      )
    })

    test('[RACE-5] an import that restores a memory whose external id is taken meanwhile is a conflict', async () => {
      const gone = await calls.make(agent, { external_id: 'taken' })
      await calls.forget(agent, gone.id)
      const reply = await beside<ImportedMemories>(
        (tx) => putMemory(tx, tools, principal, 'taken', { ...aMemory, title: 'The new one' }),
        () => send([{ ...aMemory, id: gone.id }]),
      )
      assert.equal(reply.status, 200, reply.text)
      assert.deepEqual([reply.body.failed, reply.body.errors[0]?.error.code], [1, 'conflict'])
      assert.deepEqual(
        (await calls.list(agent)).memories.map(({ title }) => title),
        ['The new one'],
      )
    })

    test('[RACE-6] a line that is imported twice concurrently becomes one memory', async () => {
      const line = { ...aMemory, title: 'Once' }
      const reply = await beside<ImportedMemories>(
        async (tx) => importMemory(tx, tools, principal, line, await originOfLine(principal, line, tools.now())),
        () => send([line]),
      )
      assert.partialDeepStrictEqual(reply.body, { created: 0, skipped: 1 })
      assert.equal((await calls.list(agent)).total, 1)
    })

    test('[RACE-6] lines of two owners with one external id, imported concurrently, never become one memory', async () => {
      const lineOf = (owner: string) => ({
        ...aMemory,
        id: `of-${owner}`,
        title: owner,
        external_id: 'same',
        tenant_id: 'elsewhere',
        agent_id: owner,
      })
      const reply = await beside<ImportedMemories>(
        (tx) => importMemory(tx, tools, principal, lineOf('first'), 'of-first'),
        () => send([lineOf('second')]),
      )
      assert.deepEqual([reply.body.failed, reply.body.errors[0]?.error.code], [1, 'conflict'])
      const left = (await calls.list(agent)).memories.map(({ title }) => title)
      assert.deepEqual(left, ['first'])
    })

    test('[RACE-7] two concurrent puts of one memory count once against the quota', async () => {
      await setSettings(service, tenant, { quota_memories: 1 })
      const quotas = makeQuotas(service.store, service.clock, () => ({ ...NO_SETTINGS, quota_memories: 1 }))
      const reply = await beside<Memory>(
        (tx) => putMemory(tx, { ...tools, quotas }, principal, 'one', aMemory),
        () => service.call('PUT /v1/memories/by-external-id/one', { token: agent.token, body: aMemory }),
      )
      assert.equal(reply.status, 200, reply.text)
    })

    test('[RACE-7] two concurrent puts of one agent count once against the quota', async () => {
      await setSettings(service, tenant, { quota_agents: 2 })
      const quotas = makeQuotas(service.store, service.clock, () => ({ ...NO_SETTINGS, quota_agents: 2 }))
      const wanted = { name: 'Put', delivery_mode: 'poll', client_type: 'other' } as const
      const reply = await beside(
        (tx) => putAgent(tx, { ...tools, quotas, announce: () => {} }, tenant.id, 'one', wanted),
        () => service.call('PUT /v1/agents/by-external-id/one', { token: tenant.admin, body: wanted }),
      )
      assert.equal(reply.status, 200, reply.text)
    })

    test('[RACE-15] a put that is rolled back and retried takes its bytes of a quota once', async () => {
      const settings = { ...NO_SETTINGS, quota_stored_bytes: 60 }
      const quotas = makeQuotas(service.store, service.clock, () => settings)
      const collision = Object.assign(new Error('in each other\u2019s way'), { code: '40P01' })
      let isFirst = true
      const put = () =>
        service.store.tx(async (tx) => {
          const made = await putMemory(tx, { ...tools, quotas }, principal, 'one', {
            ...aMemory,
            content: 'x'.repeat(30),
          })
          if (isFirst) {
            isFirst = false
            throw collision
          }
          return made
        })
      // On PostgreSQL the store retries by itself.
      const { outcome } = await put().catch((error) => (error === collision ? put() : Promise.reject(error)))
      assert.equal(outcome, 'made')
    })
  })
})
