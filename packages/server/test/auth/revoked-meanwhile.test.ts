// A request that is under way while its key is revoked or its agent deactivated: it is refused, or ends.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { operations } from '@sensorium/contract'
import type { Principal } from '../../src/auth/principal.ts'
import { unauthenticated } from '../../src/kernel/failure.ts'
import { resultOf } from '../../src/operations/response.ts'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite, tenantForSuite, type TestAgent } from '../support/service.ts'
import { turnsUntil } from '../support/turns-until.ts'

const MEMORY = { type: 'semantic', scope: 'agent', title: 'Cups', content: 'They are in the cupboard' }
const EVENT = { specversion: '1.0', type: 'a.b', source: '/x', id: 'meanwhile' }

onBothEngines((engine) => {
  describe('revoked meanwhile', () => {
    const service = serviceForSuite(engine)
    const tenant = tenantForSuite(service)

    const revoke = async ({ id, keyId }: TestAgent): Promise<void> => {
      const reply = await service.call(`DELETE /v1/agents/${id}/keys/${keyId}`, { token: tenant.admin })
      assert.equal(reply.status, 204)
    }
    const deactivate = async ({ id }: TestAgent): Promise<void> => {
      const reply = await service.call(`POST /v1/agents/${id}/deactivate`, { token: tenant.admin })
      assert.equal(reply.status, 200)
    }

    /** Sends a body in two halves, and calls `between` when the first has arrived. Returns the status. */
    async function inHalves(
      request: string,
      { token }: TestAgent,
      text: string,
      between: () => Promise<unknown>,
      type = 'application/json',
    ): Promise<number> {
      const [method, path] = request.split(' ') as [string, string]
      const half = Math.floor(text.length / 2)
      let sent!: ReadableStreamDefaultController<Uint8Array>
      const body = new ReadableStream<Uint8Array>({ start: (controller) => void (sent = controller) })
      sent.enqueue(Buffer.from(text.slice(0, half)))
      const headers = { authorization: `Bearer ${token}`, 'content-type': type }
      const replied = fetch(service.url + path, { method, body, duplex: 'half', headers } as RequestInit)
      let isSettled = false
      const settled = (): void => void (isSettled = true)
      replied.then(settled, settled)
      // The request for the metrics is one of them.
      const isInHand = async () => /^sensorium_http_in_flight [2-9]/m.test((await service.call('GET /metrics')).text)
      await turnsUntil(async () => isSettled || (await isInHand()))
      await between()
      sent.enqueue(Buffer.from(text.slice(half)))
      sent.close()
      const response = await replied
      await response.text()
      return response.status
    }

    test('[KEY-30] a body that arrives after the revocation is refused', async () => {
      const bodies: [string, string, string?][] = [
        ['POST /v1/memories', JSON.stringify(MEMORY)],
        ['POST /v1/events', JSON.stringify(EVENT)],
        ['POST /v1/events', JSON.stringify([EVENT]), 'application/cloudevents-batch+json'],
        ['POST /v1/memories/import', JSON.stringify(MEMORY), 'application/x-ndjson'],
      ]
      for (const [request, body, type] of bodies)
        for (const end of [revoke, deactivate]) {
          const agent = await tenant.agent()
          assert.equal(await inHalves(request, agent, body, () => end(agent), type), 401, `${request} ${end.name}`)
        }
      const agent = await tenant.agent({ scopes: ['admin'] })
      const minted = await inHalves(`POST /v1/agents/${agent.id}/keys`, agent, '{"scopes":["admin"]}', () =>
        revoke(agent),
      )
      assert.equal(minted, 401, 'no key mints itself a successor')
      const kept = await tenant.agent()
      assert.equal(await inHalves('POST /v1/events', kept, JSON.stringify(EVENT), async () => {}), 202)
    })

    test('[KEY-30] an import ends at the step in which the revocation is seen', async () => {
      const agent = await tenant.agent()
      const caller: Principal = {
        kind: 'agent',
        id: agent.id,
        tenantId: tenant.id,
        keyId: agent.keyId,
        scopes: new Set(['memory:read', 'memory:write']),
        teamId: null,
      }
      const lines = Array.from({ length: 40 }, (_, n) => JSON.stringify({ ...MEMORY, title: `Cup ${n}` })).join('\n')
      let steps = 0
      const requireStanding = (): void => {
        if (++steps > 2) throw unauthenticated()
      }
      const { operations: calls } = service.app
      await assert.rejects(calls.perform(caller, operations.importMemories, { body: lines }, { requireStanding }), {
        code: 'authentication_failed',
      })
      const list = await calls.perform(caller, operations.listMemories, {})
      assert.equal((await resultOf<typeof operations.listMemories>(list)).total, 16)
    })

    test('[KEY-30] a long response ends when its key is revoked', async () => {
      const agent = await tenant.agent()
      const metadata = { long: 'x'.repeat(900_000) }
      for (let n = 0; n < 30; n++) {
        const body = { ...MEMORY, title: `Long ${n}`, metadata }
        assert.equal((await service.call('POST /v1/memories', { token: agent.token, body })).status, 201)
      }
      const open = async (path: string) => {
        const headers = { authorization: `Bearer ${agent.token}` }
        const response = await fetch(service.url + path, { headers })
        const pieces = response.body!.getReader()
        return { pieces, first: (await pieces.read()).value!.length }
      }
      const opened = await Promise.all(['/v1/memories/export', '/v1/memories?limit=200'].map(open))
      await revoke(agent)
      for (const { pieces, first } of opened) {
        let bytes = first
        await assert.rejects(async () => {
          for (let next = await pieces.read(); !next.done; next = await pieces.read()) bytes += next.value.length
        }, TypeError)
        assert.ok(bytes < 27_000_000, `${bytes}`)
      }
    })

    // The last one, because the tokens of the suite run out too.
    test('[KEY-30] a long response outlasts a token that runs out', async () => {
      const patient = await tenant.agent()
      const metadata = { long: 'x'.repeat(900_000) }
      for (let n = 0; n < 12; n++) {
        const body = { ...MEMORY, title: `Long ${n}`, metadata }
        assert.equal((await service.call('POST /v1/memories', { token: patient.token, body })).status, 201)
      }
      await service.clock.jump(3_590_000)
      const headers = { authorization: `Bearer ${patient.token}` }
      const response = await fetch(`${service.url}/v1/memories/export`, { headers })
      const pieces = response.body!.getReader()
      let bytes = (await pieces.read()).value!.length
      await service.clock.advance(15_000)
      assert.equal((await service.call('GET /v1/agents', { token: patient.token })).status, 401, 'it has run out')
      for (let next = await pieces.read(); !next.done; next = await pieces.read()) bytes += next.value.length
      assert.ok(bytes > 12 * 900_000, `${bytes}`)
    })
  })
})
