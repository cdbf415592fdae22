// One function carries out every call: a caller in the same process gets the same result as an HTTP request.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { operations } from '@sensorium/contract'
import type { Principal } from '../../src/auth/principal.ts'
import { Failure } from '../../src/kernel/failure.ts'
import { NOBODY, OPERATOR } from '../../src/operations/call.ts'
import { resultOf } from '../../src/operations/response.ts'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite, tenantForSuite, type Service, type TestAgent } from '../support/service.ts'

onBothEngines((engine) => {
  describe('calls in the same process', () => {
    const service = serviceForSuite(engine, { RATE_LIMIT_AGENT: '50' })
    const tenant = tenantForSuite(service)
    let agent: TestAgent
    let caller: Principal
    before(async () => {
      agent = await tenant.agent({ scopes: ['send', 'receive', 'memory:read', 'memory:write'] })
      caller = {
        kind: 'agent',
        id: agent.id,
        tenantId: tenant.id,
        keyId: agent.keyId,
        scopes: new Set(['send', 'receive', 'memory:read', 'memory:write']),
        teamId: null,
      }
    })

    const perform: Service['app']['operations']['perform'] = (...call) => service.app.operations.perform(...call)
    const refusedWith = (code: string, details?: object) => (error: unknown) => {
      assert.ok(error instanceof Failure, String(error))
      assert.equal(error.code, code)
      if (details) assert.deepEqual(error.details, details)
      return true
    }
    const MEMORY = { type: 'semantic', scope: 'agent', title: 'Cups', content: 'They are in the cupboard' }

    test('[OPS-12] a call returns the body that HTTP shows, typed by its operation', async () => {
      const made = await perform(caller, operations.createMemory, { body: MEMORY })
      assert.equal(made.status, 201)
      const memory = await resultOf<typeof operations.createMemory>(made)
      const seen = await service.call(`GET /v1/memories/${memory.id}`, { token: agent.token })
      assert.equal(seen.status, 200)
      assert.equal(seen.body.content, MEMORY.content)
      const list = await perform(caller, operations.listMemories, { query: { limit: 5 } })
      assert.equal((await resultOf<typeof operations.listMemories>(list)).total, 1)
    })

    test('[OPS-12] errors are thrown as HTTP answers them: scope before shape, shape before existence', async () => {
      const unscoped = { ...caller, scopes: new Set(['send']) }
      const wrong = { body: { ...MEMORY, title: 7 } }
      await assert.rejects(
        perform(unscoped, operations.createMemory, wrong),
        refusedWith('insufficient_scope', { required_scope: 'memory:write' }),
      )
      await assert.rejects(perform(caller, operations.createMemory, wrong), refusedWith('validation_failed'))
      await assert.rejects(
        perform(caller, operations.updateMemory, { params: { id: 'mem_nowhere' }, body: { title: 7 } }),
        refusedWith('validation_failed'),
      )
      await assert.rejects(
        perform(caller, operations.getMemory, { params: { id: 'mem_nowhere' } }),
        refusedWith('not_found', { resource_type: 'memory', resource_id: 'mem_nowhere' }),
      )
      await assert.rejects(
        perform(caller, operations.listMemories, { query: { limit: '1000' } }),
        refusedWith('validation_failed'),
      )
    })

    test('[LOAD-3] an erasure that was begun is finished although its client has gone, and a deletion is not begun', async () => {
      const options = { isClientGone: () => true }
      const admin: Principal = { ...caller, kind: 'org_admin', id: 'adm_x' }
      const made = await perform(caller, operations.createMemory, { body: MEMORY })
      const { id } = await resultOf<typeof operations.createMemory>(made)
      const kept = () =>
        service.store.rows('select status from memories where tenant_id = ? and id = ?', [tenant.id, id])
      const deletion = { params: { id } }
      await assert.rejects(perform(caller, operations.deleteMemory, deletion, options), /went away/)
      assert.deepEqual(await kept(), [{ status: 'active' }])
      const erased = await perform(admin, operations.deleteMemory, { ...deletion, query: { erase: 'true' } }, options)
      assert.equal(erased.status, 204)
      assert.deepEqual(await kept(), [])
    })

    test('[OPS-12] tenants cannot call operations of the operator, nor the operator those of a tenant', async () => {
      for (const principal of [caller, NOBODY, { ...OPERATOR }])
        await assert.rejects(perform(principal, operations.listTenants, {}), refusedWith('authentication_failed'))
      for (const principal of [OPERATOR, NOBODY])
        await assert.rejects(perform(principal, operations.listMemories, {}), refusedWith('authentication_failed'))
      const tenants = await resultOf<typeof operations.listTenants>(await perform(OPERATOR, operations.listTenants, {}))
      assert.ok(tenants.tenants.some(({ slug }) => slug === tenant.slug))
    })

    test('[OPS-12] a body is read once the caller is admitted, and not before', async () => {
      let asked = 0
      const payload = () => (asked++, { isEmpty: false, hash: () => 'x', read: () => MEMORY })
      const unscoped = { ...caller, scopes: new Set<string>() }
      await assert.rejects(perform(unscoped, operations.createMemory, { payload }), refusedWith('insufficient_scope'))
      assert.equal(asked, 0)
      assert.equal((await perform(caller, operations.createMemory, { payload })).status, 201)
      assert.equal(asked, 1)
    })

    test('[OPS-12] an event is published, polled and acknowledged without HTTP', async () => {
      const event = { specversion: '1.0', type: 'in.process', source: '/test', id: 'in-process-1', data: { n: 1 } }
      const admin = { ...caller, scopes: new Set(['interests:write', 'receive', 'send']) }
      const interest = { event_type: 'in.*', priority: 0, enrichment_depth: 'none' }
      await perform(admin, operations.createInterest, { params: { id: agent.id }, body: interest })
      const published = await perform(caller, operations.publishEvent, { body: event })
      assert.equal(published.status, 202)
      assert.deepEqual(await resultOf(published), { event_id: 'in-process-1', status: 'accepted', recipients: 1 })
      assert.equal((await perform(caller, operations.publishEvent, { body: event })).status, 200)
      for (const forged of [{ ...event, original: {} }, { ...event, type: 'a b' }, [event]])
        await assert.rejects(perform(caller, operations.publishEvent, { body: forged }), refusedWith('invalid_event'))
      const polled = await resultOf<typeof operations.pollDeliveries>(
        await perform(caller, operations.pollDeliveries, {}),
      )
      assert.equal(polled.count, 1)
      const delivery_ids = polled.deliveries.map(({ id }) => id)
      const settled = await perform(caller, operations.ackDeliveries, { body: { delivery_ids } })
      assert.deepEqual(await resultOf(settled), { acknowledged: 1 })
    })

    test('[OPS-12] a repeated key has one effect, refusals are thrown again, another body is a conflict', async () => {
      const options = { idempotencyKey: 'in-process' }
      const first = await perform(caller, operations.createMemory, { body: MEMORY }, options)
      const again = await perform(caller, operations.createMemory, { body: MEMORY }, options)
      assert.deepEqual([first.replayed, again.replayed], [undefined, true])
      assert.deepEqual(await resultOf(again), await resultOf(first))
      const other = { body: { ...MEMORY, title: 'Plates' } }
      await assert.rejects(perform(caller, operations.createMemory, other, options), refusedWith('conflict'))
      const wrong = { body: { ...MEMORY, title: 7 } }
      const refusal = { idempotencyKey: 'in-process-refused' }
      const failures = await Promise.allSettled([
        perform(caller, operations.createMemory, wrong, refusal),
        perform(caller, operations.createMemory, wrong, refusal),
      ])
      const thrown = failures.map((outcome) => (outcome as PromiseRejectedResult).reason as Failure)
      assert.deepEqual(
        thrown.map(({ code, message, details }) => ({ code, message, details })),
        Array(2).fill({ code: 'validation_failed', message: thrown[0]!.message, details: thrown[0]!.details }),
      )
      assert.deepEqual(thrown.map(({ headers }) => headers['idempotent-replayed']).toSorted(), ['true', undefined])
    })

    test('[OPS-12] calls count towards the limit of the agent, whichever transport they come through', async () => {
      const other = await tenant.agent()
      const principal = { ...caller, id: other.id, keyId: other.keyId }
      let left = 0
      const limited = ({ remaining }: { remaining: number }): void => void (left = remaining)
      await perform(principal, operations.listMemories, {}, { limited })
      const reply = await service.call('GET /v1/memories', { token: other.token })
      assert.equal(reply.headers.get('x-ratelimit-remaining'), String(left - 1))
      while (left > 0) await perform(principal, operations.listMemories, {}, { limited })
      await assert.rejects(perform(principal, operations.listMemories, {}), refusedWith('rate_limited'))
    })
  })
})
