// kill -9 at twenty random moments of a busy service: everything that was answered is there afterwards, once.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { onBothEngines } from '../support/engines.ts'
import { startProcess, type RunningProcess } from '../support/process.ts'

const KEY = 'ak_live_KillKillKillKillKillKillKillKi01'
const MOMENTS = { sqlite: 12, postgres: 8 }
const LEASE_S = 2

interface Handed {
  id: string
  event_id: string
  attempt_count: number
}

interface Client {
  call<T>(method: string, path: string, body?: unknown): Promise<{ status: number; body: T }>
}

async function clientOf(url: string, key: string): Promise<Client> {
  const request = async <T>(
    method: string,
    path: string,
    token: string | null,
    body?: unknown,
  ): Promise<{ status: number; body: T }> => {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: (text ? JSON.parse(text) : null) as T }
  }
  const { body } = await request<{ access_token: string }>('POST', '/v1/auth/token', null, { api_key: key })
  return { call: (method, path, given) => request(method, path, body.access_token, given) }
}

onBothEngines((engine) => {
  describe('kill -9', () => {
    test('[STO-1] [DLV-4] [DLV-10] [NODE-5] every 202 survives, acknowledged stays acknowledged, no lease is broken', {
      timeout: 180_000,
    }, async (t) => {
      const fresh = await engine.fresh()
      const env = {
        ...fresh.env,
        BOOTSTRAP_ADMIN_KEY: KEY,
        VISIBILITY_TIMEOUT_S: String(LEASE_S),
        MAX_ATTEMPTS: '1000',
        LOG_LEVEL: 'silent',
      }
      let service: RunningProcess = await startProcess(env)
      // However this ends, no service is left behind to hold the runner.
      t.after(async () => {
        service.kill('SIGKILL')
        await service.ended
        await fresh.drop()
      })
      const admin = await clientOf(service.url, KEY)
      const { body: agent } = await admin.call<{ id: string }>('POST', '/v1/agents', {
        name: 'a',
        delivery_mode: 'poll',
        client_type: 'other',
      })
      const { body: minted } = await admin.call<{ key: string }>('POST', `/v1/agents/${agent.id}/keys`, {
        scopes: ['send', 'receive', 'interests:write'],
      })
      let client = await clientOf(service.url, minted.key)
      await client.call('POST', `/v1/agents/${agent.id}/interests`, {
        event_type: '*',
        priority: 0,
        enrichment_depth: 'none',
      })

      const accepted = new Set<string>()
      const acknowledged = new Set<string>()
      const uncertain = new Set<string>()
      const leasedUntil = new Map<string, number>()
      let n = 0

      for (let moment = 0; moment < MOMENTS[engine.name]; moment++) {
        let alive = true
        const untilKilled = async (work: () => Promise<void>): Promise<void> => {
          while (alive) await work().catch(() => {})
        }
        const publisher = async (): Promise<void> => {
          const id = `e-${n++}`
          const { status } = await client.call('POST', '/v1/events', {
            specversion: '1.0',
            type: 'kill',
            source: '/',
            id,
            data: { n },
          })
          if (status === 202) accepted.add(id)
        }
        const worker = async (): Promise<void> => {
          const asked = Date.now()
          const { body } = await client.call<{ deliveries: Handed[] }>('GET', '/v1/delivery/poll?limit=5')
          for (const delivery of body.deliveries) {
            assert.ok(!acknowledged.has(delivery.event_id), `${delivery.event_id} was acknowledged and came again`)
            assert.ok(
              (leasedUntil.get(delivery.id) ?? 0) <= Date.now(),
              `${delivery.event_id} was delivered inside a lease`,
            )
            leasedUntil.set(delivery.id, asked + LEASE_S * 1000)
          }
          const some = body.deliveries.slice(0, 3)
          if (some.length === 0) return
          for (const { event_id } of some) uncertain.add(event_id)
          const acked = await client.call<{ acknowledged: number }>('POST', '/v1/delivery/ack', {
            delivery_ids: some.map(({ id }) => id),
          })
          if (acked.status !== 200) return
          for (const { event_id } of some) acknowledged.add(event_id)
        }
        const broken: unknown[] = []
        const strict = (work: () => Promise<void>) => () =>
          work().catch((error: unknown) => {
            if (error instanceof assert.AssertionError) broken.push(error)
          })
        const target = accepted.size + 20 + Math.floor(Math.random() * 200)
        const jobs = [
          ...Array.from({ length: 8 }, () => untilKilled(publisher)),
          untilKilled(strict(worker)),
          untilKilled(strict(worker)),
        ]
        while (accepted.size < target) await new Promise(setImmediate)
        service.kill('SIGKILL')
        alive = false
        await service.ended
        await Promise.all(jobs)
        assert.deepEqual(broken, [])
        service = await startProcess(env)
        client = await clientOf(service.url, minted.key)
      }

      // Everything that was accepted is acknowledged or comes out now; nothing twice once it is acknowledged. A poll
      // that waited longer than a lease and found nothing means that nothing is left.
      const found = new Set<string>()
      for (;;) {
        const { body } = await client.call<{ deliveries: Handed[] }>(
          'GET',
          `/v1/delivery/poll?limit=100&wait=${2 * LEASE_S}`,
        )
        if (body.deliveries.length === 0) break
        assert.deepEqual(
          body.deliveries.filter(({ event_id }) => acknowledged.has(event_id)),
          [],
        )
        for (const { event_id } of body.deliveries) found.add(event_id)
        await client.call('POST', '/v1/delivery/ack', { delivery_ids: body.deliveries.map(({ id }) => id) })
      }
      assert.deepEqual(
        [...accepted].filter((id) => !acknowledged.has(id) && !found.has(id) && !uncertain.has(id)),
        [],
      )
      // What may have been acknowledged without an answer is either settled or was found above: the receipts know.
      for (const id of [...uncertain].filter((id) => !acknowledged.has(id) && !found.has(id))) {
        const { body } = await client.call<{ deliveries: { state: string }[] }>('GET', `/v1/events/${id}`)
        assert.equal(body.deliveries[0]!.state, 'acknowledged', id)
      }
    })
  })
})
