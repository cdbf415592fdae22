// Changes of a memory within one millisecond. A response that shows long metadata reads it by the time of its change.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operations, type Memory } from '@sensorium/contract'
import type { Principal } from '../../src/auth/principal.ts'
import { NOBODY } from '../../src/operations/call.ts'
import { resultOf } from '../../src/operations/response.ts'
import { onBothEngines } from '../support/engines.ts'
import { agentForSuite, serviceForSuite, tenantForSuite } from '../support/service.ts'
import { aMemory, memoryCalls } from './tools.ts'

/** Metadata that a response does not hold while it waits. */
const long = (name: string) => ({ name, pad: 'x'.repeat(66_000) })

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)
  const agent = agentForSuite(tenant)
  const calls = memoryCalls(service)

  test('[IDEM-2] changes of one moment are each replayed with their own metadata', async () => {
    const { id } = await calls.make(agent)
    const patch = (name: string) =>
      service.call<Memory>(`PATCH /v1/memories/${id}`, {
        token: agent.token,
        body: { metadata: long(name) },
        headers: { 'idempotency-key': name },
      })
    const names = ['first', 'second', 'third']
    const responses = await Promise.all(names.map(patch))
    const replays = await Promise.all(names.map(patch))
    for (const [i, name] of names.entries()) {
      assert.equal(responses[i]!.body.metadata['name'], name)
      assert.equal(replays[i]!.headers.get('idempotent-replayed'), 'true')
      assert.deepEqual(replays[i]!.body, responses[i]!.body)
    }
  })

  test('[SAFE-35] [KEP-16] every kind of change has a time of its own, by which a waiting response is read', async () => {
    const external_id = 'same-moment'
    const put = (metadata: object) =>
      service.call(`PUT /v1/memories/by-external-id/${external_id}`, {
        token: agent.token,
        body: { ...aMemory, metadata },
      })
    const made = await calls.make(agent, { metadata: long('made'), external_id })
    const { id } = made
    const other = await calls.make(agent)
    const principal: Principal = {
      ...{ ...NOBODY, kind: 'agent', id: agent.id, tenantId: tenant.id, keyId: 'key' },
      scopes: new Set(['memory:read']),
    }
    const importLine = (name: string) =>
      calls.importLines(agent, [{ id, external_id, ...aMemory, metadata: long(name) }])
    const changes: Record<string, () => Promise<{ status: number; text: string }>> = {
      changed: () => calls.patch(agent, id, { metadata: long('changed') }),
      put: () => put(long('put')),
      imported: () => importLine('imported'),
      restored: () => service.call(`POST /v1/memories/${id}/restore`, { token: agent.token, body: { version: 1 } }),
      merged: () =>
        service.call(`POST /v1/memories/${id}/merge`, { token: agent.token, body: { memory_ids: [other.id] } }),
      back: async () => {
        await calls.forget(agent, id)
        return importLine('back')
      },
      promoted: () => calls.promote(agent, id, { scope: 'institutional' }),
    }
    const waiting = []
    for (const change of [async () => ({ status: 200, text: '' }), ...Object.values(changes)]) {
      const { status, text } = await change()
      assert.equal(status, 200, text)
      waiting.push(await service.app.operations.perform(principal, operations.getMemory, { params: { id } }))
    }
    const shown: Memory[] = []
    for (const response of waiting) shown.push(await resultOf<typeof operations.getMemory>(response))
    assert.deepEqual(
      shown.map(({ metadata }) => metadata['name']),
      ['made', 'changed', 'put', 'imported', 'made', 'made', 'back', 'back'],
    )
    assert.deepEqual(shown[5]!.metadata['derived_from'], [other.id])
    const times = shown.map(({ updated_at }) => updated_at)
    assert.deepEqual(times, [...new Set(times)].sort())
    assert.equal(times[0], made.updated_at)
  })
})
