// Names of agents that are none of the newest 200, from a service that counts the requests.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient } from '@sensorium/client'
import { findAgent, findAgents } from '../src/api/find-agents.ts'

/** A service with so many agents, the newest first. */
function serviceWith(total: number) {
  const agents = Array.from({ length: total }, (_, i) => ({ id: `agt_${i}`, name: `Agent ${i}` }))
  const asked: string[] = []
  const respond = async (url: string | URL | Request): Promise<Response> => {
    const { pathname, search, searchParams } = new URL(String(url))
    asked.push(pathname + search)
    const offset = Number(searchParams.get('offset'))
    if (pathname === '/v1/agents') return Response.json({ agents: agents.slice(offset, offset + 200), total })
    const agent = agents.find(({ id }) => pathname === `/v1/agents/${id}`)
    const error = { code: 'not_found', message: 'There is no such agent', details: {}, request_id: 'req_1' }
    return agent ? Response.json(agent) : Response.json({ error }, { status: 404 })
  }
  return { client: createClient({ url: 'http://localhost', token: 't', fetch: respond }), asked }
}

const idsOf = (from: number, count: number): Set<string> =>
  new Set(Array.from({ length: count }, (_, i) => `agt_${from + i}`))

test('[UI-72] the names of older agents are found by as few requests as it takes', async () => {
  const small = serviceWith(437)
  assert.equal((await findAgents(small.client, idsOf(230, 100), 437)).length, 100)
  assert.deepEqual(small.asked, ['/v1/agents?offset=200&limit=200'])
  const large = serviceWith(2_000)
  const found = await findAgents(large.client, new Set(['agt_1999', 'agt_gone']), 2_000)
  assert.deepEqual(found, [{ id: 'agt_1999', name: 'Agent 1999' }])
  assert.equal(large.asked.length, 2)
  const huge = serviceWith(20_000)
  assert.equal((await findAgents(huge.client, idsOf(4_950, 100), 20_000)).length, 50)
  assert.equal(huge.asked.length, 24)
})

test('[UI-72] an agent that cannot be asked for is not one that is gone', async () => {
  const error = { code: 'insufficient_scope', message: 'A scope is missing', details: {}, request_id: 'req_1' }
  const respond = async (): Promise<Response> => Response.json({ error }, { status: 403 })
  const client = createClient({ url: 'http://localhost', token: 't', fetch: respond })
  await assert.rejects(findAgents(client, new Set(['agt_1']), 2_000), /A scope is missing/)
})

test('[UI-72] the names that are asked for at the same moment are found together', async () => {
  const { client, asked } = serviceWith(300)
  const found = await Promise.all([...idsOf(240, 3), 'agt_gone'].map((id) => findAgent(client, id, 300)))
  assert.deepEqual(
    found.map((agent) => agent?.name),
    ['Agent 240', 'Agent 241', 'Agent 242', undefined],
  )
  assert.equal(asked.length, 1)
  await findAgent(client, 'agt_250', 300)
  assert.deepEqual(asked, ['/v1/agents?offset=200&limit=200', '/v1/agents/agt_250'])
})
