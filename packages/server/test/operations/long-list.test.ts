// Lists without paging in the contract, longer than a page: complete, in order, and never entirely in memory.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { operations } from '@sensorium/contract'
import { onBothEngines } from '../support/engines.ts'
import { startService, type Service, type TestAgent, type TestTenant } from '../support/service.ts'

const COUNT = 230

onBothEngines((engine) => {
  let service: Service
  let tenant: TestTenant
  let agent: TestAgent
  before(async () => {
    service = await startService(engine)
    tenant = await service.tenant()
    agent = await tenant.agent()
  })
  after(() => service.stop())

  async function made(path: string, body: (i: number) => object): Promise<string[]> {
    const ids: string[] = []
    for (let i = 0; i < COUNT; i++) {
      const { status, body: one } = await service.call(`POST ${path}`, { token: agent.token, body: body(i) })
      assert.equal(status, 201)
      ids.unshift(one.id)
    }
    return ids
  }
  const ids = (items: { id: string }[]): string[] => items.map(({ id }) => id)
  const principal = (): never =>
    ({ kind: 'org_admin', id: 'adm_x', tenantId: tenant.id, keyId: 'k', scopes: new Set(), teamId: null }) as never

  for (const [name, operation, path, body] of [
    [
      'interests',
      operations.listInterests,
      () => `/v1/agents/${agent.id}/interests`,
      (i: number) => ({ event_type: `a.${i}`, priority: 0, enrichment_depth: 'none' }),
    ],
    [
      'feeds',
      operations.listFeeds,
      async () => {
        const channel = { name: 'Long', type: 'open' }
        const { body: made } = await service.call('POST /v1/channels', { token: agent.token, body: channel })
        return `/v1/channels/${made.id}/feeds`
      },
      (i: number) => ({ event_type_glob: `a.${i}` }),
    ],
  ] as const)
    test(`[SAFE-45] ${name} of three pages are listed completely, newest first, and sent in pieces`, async () => {
      const where = await path()
      const list = async () => (await service.call(`GET ${where}`, { token: agent.token })).body[name]
      assert.deepEqual(await list(), [])
      const all = await made(where, body)
      assert.deepEqual(ids(await list()), all)
      const params = { id: where.split('/')[3]! } as never
      const { pieces, json } = await service.app.operations.perform(principal(), operation, { params })
      assert.equal(json, undefined)
      let count = 0
      for await (const piece of pieces!) {
        count++
        if (count === 1) await service.call(`DELETE ${where}/${all[150]}`, { token: agent.token })
        assert.ok(!String(piece).includes(`"${all[150]}"`) || count < 3)
      }
      assert.equal(count, 4)
      assert.deepEqual(ids(await list()), all.toSpliced(150, 1))
      const brief = await service.app.operations.perform(principal(), operation, { params }, { brief: true })
      assert.deepEqual(ids((brief.json as Record<string, { id: string }[]>)[name]!), all.slice(0, 100))
    })
})
