// Two service processes on one PostgreSQL: they share the work, see each other's changes, and one of them dies in the
// middle.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { POSTGRES_URL, postgres } from '../support/engines.ts'
import { startProcess } from '../support/process.ts'
import { turnsUntil } from '../support/turns-until.ts'

const KEY = 'ak_live_NodeNodeNodeNodeNodeNodeNodeNo01'

interface Handed {
  id: string
  event_id: string
}

async function request<T>(
  url: string,
  method: string,
  path: string,
  token: string | null,
  body?: unknown,
): Promise<{ status: number; body: T }> {
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

describe('two nodes', { skip: POSTGRES_URL ? false : 'PostgreSQL is missing' }, () => {
  test('[NODE-1] [NODE-2] [NODE-3] [NODE-4] [NODE-5] [AUTH-10] share one database and lose nothing when one is killed', {
    timeout: 120_000,
  }, async (t) => {
    const fresh = await postgres.fresh()
    const env = {
      ...fresh.env,
      BOOTSTRAP_ADMIN_KEY: KEY,
      VISIBILITY_TIMEOUT_S: '3',
      MAX_ATTEMPTS: '100',
      LOG_LEVEL: 'silent',
    }
    const [one, two] = await Promise.all([startProcess(env), startProcess(env)])
    const running = [one, two]
    // However the test ends, no node is left running.
    t.after(async () => {
      for (const node of running) node.kill('SIGKILL')
      await Promise.all(running.map((node) => node.ended))
      await fresh.drop()
    })
    const exchange = async (url: string, api_key: string): Promise<string> =>
      (await request<{ access_token: string }>(url, 'POST', '/v1/auth/token', null, { api_key })).body.access_token
    const admin = await exchange(one.url, KEY)
    const makeAgent = async (): Promise<{ id: string; key: string; keyId: string; token: string }> => {
      const { body } = await request<{ id: string }>(one.url, 'POST', '/v1/agents', admin, {
        name: 'a',
        delivery_mode: 'poll',
        client_type: 'other',
      })
      const key = await request<{ id: string; key: string }>(two.url, 'POST', `/v1/agents/${body.id}/keys`, admin, {
        scopes: ['send', 'receive', 'interests:write'],
      })
      return { id: body.id, key: key.body.key, keyId: key.body.id, token: await exchange(two.url, key.body.key) }
    }
    const sender = await makeAgent()
    const agent = await makeAgent()
    const event = (id: string, type = 'node.x') => ({ specversion: '1.0', type, source: '/', id })
    const publish = (url: string, id: string, type?: string) =>
      request<{ status: string; recipients: number }>(url, 'POST', '/v1/events', sender.token, event(id, type))

    // A change on one node is seen by the next publish on the other.
    assert.equal((await publish(two.url, 'early')).body.recipients, 0)
    for (let i = 0; i < 10; i++) {
      const [a, b] = i % 2 ? [one.url, two.url] : [two.url, one.url]
      await publish(b, `warm-${i}`, `turn.${i}`)
      const made = await request<{ id: string }>(a, 'POST', `/v1/agents/${agent.id}/interests`, agent.token, {
        event_type: `turn.${i}`,
        priority: 0,
        enrichment_depth: 'none',
      })
      assert.equal((await publish(b, `after-${i}`, `turn.${i}`)).body.recipients, 1)
      await request(a, 'DELETE', `/v1/agents/${agent.id}/interests/${made.body.id}`, agent.token)
      assert.equal((await publish(b, `gone-${i}`, `turn.${i}`)).body.recipients, 0)
    }
    await request(one.url, 'POST', `/v1/agents/${agent.id}/interests`, agent.token, {
      event_type: 'node.*',
      priority: 0,
      enrichment_depth: 'none',
    })

    // The same id on both nodes at once is accepted once.
    for (let i = 0; i < 20; i++) {
      const both = await Promise.all([publish(one.url, `same-${i}`), publish(two.url, `same-${i}`)])
      assert.deepEqual(both.map((reply) => reply.body.status).sort(), ['accepted', 'duplicate'])
    }

    // A long poll on one node is woken by a publish on the other, long before it would read the store by itself.
    const settled = new Set<string>()
    const drain = async (url: string, query: string): Promise<Handed[]> => {
      const { status, body } = await request<{ deliveries: Handed[] }>(
        url,
        'GET',
        `/v1/delivery/poll?${query}`,
        agent.token,
      )
      assert.equal(status, 200)
      if (body.deliveries.length > 0) {
        await request(url, 'POST', '/v1/delivery/ack', agent.token, {
          delivery_ids: body.deliveries.map(({ id }) => id),
        })
        for (const { event_id } of body.deliveries) {
          assert.ok(!settled.has(event_id), `${event_id} came twice`)
          settled.add(event_id)
        }
      }
      return body.deliveries
    }
    while ((await drain(one.url, 'limit=100')).length > 0);
    const waiting = drain(one.url, 'wait=20')
    await publish(two.url, 'wake')
    assert.deepEqual(
      (await waiting).map(({ event_id }) => event_id),
      ['wake'],
    )

    // A flood on both nodes, polled from both; one is killed in the middle.
    const accepted = new Set<string>()
    let n = 0
    let oneAlive = true
    const flood = async (url: string): Promise<void> => {
      while (n < 1500 && (url === two.url || oneAlive)) {
        const id = `flood-${n++}`
        await publish(url, id).then(
          ({ status }) => status === 202 && accepted.add(id),
          () => {},
        )
      }
    }
    const pull = async (url: string): Promise<void> => {
      while ((url === two.url || oneAlive) && (n < 1500 || settled.size < 1))
        await drain(url, 'limit=20&wait=1').catch((error: unknown) => {
          if (error instanceof assert.AssertionError) throw error
        })
    }
    const work = [flood(one.url), flood(one.url), flood(two.url), flood(two.url), pull(one.url), pull(two.url)]
    await turnsUntil(() => accepted.size >= 500)
    oneAlive = false
    one.kill('SIGKILL')
    await one.ended
    await Promise.all(work)
    // Deliveries leased by the dead node come back when the leases lapse; an acknowledgement that it may have written
    // need not be repeated.
    const missing = async (): Promise<string[]> => {
      const left: string[] = []
      for (const id of accepted) {
        if (settled.has(id)) continue
        const { body } = await request<{ deliveries: { state: string }[] }>(
          two.url,
          'GET',
          `/v1/events/${id}`,
          sender.token,
        )
        if (body.deliveries[0]!.state !== 'acknowledged') left.push(id)
      }
      return left
    }
    while ((await missing()).length > 0) await drain(two.url, 'limit=100&wait=4')

    // A key revoked on one node ends its tokens on the other. How soon, auth/auth.test.ts says by its own clock.
    const three = await startProcess(env)
    running.push(three)
    const used = await request(three.url, 'GET', '/v1/delivery/poll', agent.token)
    assert.equal(used.status, 200)
    await request(two.url, 'DELETE', `/v1/agents/${agent.id}/keys/${agent.keyId}`, admin)
    assert.equal((await request(two.url, 'GET', '/v1/delivery/poll', agent.token)).status, 401)
    await turnsUntil(async () => (await request(three.url, 'GET', '/v1/delivery/poll', agent.token)).status === 401)
  })
})
