// A memory with metadata that is too long for its row, and the calls and looks that its tests share.
import assert from 'node:assert/strict'
import type { Memory, MemoryVersion } from '@sensorium/contract'
import type { Engine } from '../support/engines.ts'
import { serviceForSuite, type TestAgent, type TestTenant } from '../support/service.ts'
import { aMemory, memoryCalls } from './tools.ts'

/** As JSON text, with a character of four bytes at every offset of a part's end in one of them. */
export const long = (n: number, mark = ''): string =>
  `{ "${mark}list" : ["${'x'.repeat(n % 4)}${'🙂'.repeat(70_000)}"] }`

export function longMetadataSuite(engine: Engine) {
  const service = serviceForSuite(engine)
  const calls = memoryCalls(service)
  let tenant: TestTenant
  let agent: TestAgent
  const headers = { 'content-type': 'application/json' }

  const post = (metadata: string, more: object = {}) => {
    const body = JSON.stringify({ ...aMemory, ...more })
    return service.call<Memory>('POST /v1/memories', {
      token: agent.token,
      headers,
      raw: `${body.slice(0, -1)},"metadata":${metadata}}`,
    })
  }
  const patch = (id: string, metadata: string) =>
    service.call<Memory>(`PATCH /v1/memories/${id}`, { token: agent.token, headers, raw: `{"metadata":${metadata}}` })
  const put = (externalId: string, metadata: string) =>
    service.call<Memory>(`PUT /v1/memories/by-external-id/${externalId}`, {
      token: agent.token,
      headers,
      raw: `${JSON.stringify(aMemory).slice(0, -1)},"metadata":${metadata}}`,
    })
  const restore = (id: string, version: number) =>
    service.call<Memory>(`POST /v1/memories/${id}/restore`, { token: agent.token, body: { version } })
  const get = async (id: string): Promise<string> => (await calls.get(agent, id)).text
  const history = (id: string) =>
    service.call<{ versions: MemoryVersion[] }>(`GET /v1/memories/${id}/history`, { token: agent.token })

  /** Returns how many texts are stored, of which how many nobody names, once nothing is under way. */
  async function stored(): Promise<{ texts: number; unnamed: number }> {
    await service.clock.advance(1)
    const [row] = await service.store.rows<{ texts: number; unnamed: number }>(
      `select (select count(distinct id) from long_metadata where tenant_id = ?) as texts,
              (select count(*) from unnamed_metadata where tenant_id = ?) as unnamed`,
      [tenant.id, tenant.id],
    )
    return { texts: Number(row!.texts), unnamed: Number(row!.unnamed) }
  }
  const sweep = () => service.app.runOnce.sweepMetadata()

  /** Calls `pause` after each transaction of the agent, with its number. */
  function afterEach(who: TestAgent, pause: (count: number) => Promise<void>): () => void {
    const { tx } = service.store
    let count = 0
    service.store.tx = async (work, options) => {
      const result = await tx(work, options)
      if (options?.caller?.id === who.id) await pause(++count)
      return result
    }
    return () => (service.store.tx = tx)
  }

  const metadata = long(0)
  /** Makes a tenant with an agent, who has one memory with that metadata. */
  async function fresh() {
    tenant = await service.tenant()
    agent = await tenant.agent()
    const made = await post(metadata, { content: 'An unusual walrus' })
    assert.equal(made.status, 201, made.text)
    return { tenant, agent, memory: made.body }
  }

  return {
    ...{ service, calls, headers, metadata, fresh },
    ...{ post, patch, put, restore, get, history, stored, sweep, afterEach },
  }
}
