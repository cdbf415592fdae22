// Lists without paging in the contract, longer than a page: complete, in order, and never entirely in memory.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operations } from '@sensorium/contract'
import { keyPages } from '../../src/auth/keys.ts'
import type { Value } from '../../src/store/db.ts'
import { onBothEngines } from '../support/engines.ts'
import { explainGeneric } from '../support/plans.ts'
import { agentForSuite, serviceForSuite, tenantForSuite } from '../support/service.ts'

const COUNT = 230

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)
  const agent = agentForSuite(tenant)

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

  const newChannel = async (): Promise<string> => {
    const channel = { name: 'Long', type: 'open' }
    const { body: made } = await service.call('POST /v1/channels', { token: agent.token, body: channel })
    return `/v1/channels/${made.id}`
  }
  const others: string[] = []

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
      async () => `${await newChannel()}/feeds`,
      (i: number) => ({ event_type_glob: `a.${i}` }),
    ],
    ['keys', operations.listKeys, () => `/v1/agents/${agent.id}/keys`, () => ({ scopes: ['send'] })],
    [
      'members',
      operations.listMembers,
      async () => {
        const body = { name: 'Member', delivery_mode: 'poll', client_type: 'other' }
        for (let i = 0; i < COUNT; i++)
          others.push((await service.call('POST /v1/agents', { token: tenant.admin, body })).body.id)
        return `${await newChannel()}/members`
      },
      (i: number) => ({ participant_type: 'agent', participant_id: others[i] }),
    ],
  ] as const)
    test(`[SAFE-45] ${name} of three pages are listed completely, newest first, and sent in pieces`, async () => {
      const where = await path()
      const list = async () => (await service.call(`GET ${where}`, { token: agent.token })).body[name]
      // The agent has a key already, and is the first member of its channel.
      const earlier = ids(await list())
      assert.equal(earlier.length, name === 'keys' || name === 'members' ? 1 : 0)
      const all = [...(await made(where, body)), ...earlier]
      assert.deepEqual(ids(await list()), all)
      const params = { id: where.split('/')[3]! } as never
      const { pieces, json } = await service.app.operations.perform(principal(), operation, { params })
      assert.equal(json, undefined)
      const gone = name === 'members' ? `agent/${others[COUNT - 1 - 150]}` : all[150]
      let count = 0
      for await (const piece of pieces!) {
        count++
        if (count === 1) await service.call(`DELETE ${where}/${gone}`, { token: agent.token })
        assert.ok(!String(piece).includes(`"${all[150]}"`) || count < 3)
      }
      assert.equal(count, 4)
      assert.deepEqual(ids(await list()), all.toSpliced(150, 1))
      const brief = await service.app.operations.perform(principal(), operation, { params }, { brief: true })
      assert.deepEqual(ids((brief.json as Record<string, { id: string }[]>)[name]!), all.slice(0, 100))
    })

  test('[SAFE-45] a list of keys reads none that are revoked, however many there are', async () => {
    const many = await tenant.agent()
    const columns = {
      tenant_id: 'text',
      id: 'text',
      owner_type: 'text',
      owner_id: 'text',
      hash: 'text',
      prefix: 'text',
      scopes: 'text',
      created_at: 'bigint',
      revoked_at: 'bigint',
    } as const
    const rows = Array.from({ length: COUNT }, (_, i) => {
      const id = `key_z${String(i).padStart(25, '0')}`
      const revokedAt = i === 5 ? null : 1
      return [tenant.id, id, 'agent', many.id, `hash ${engine.name} ${id}`, 'ak_live_', '[]', 1, revokedAt] as const
    })
    await service.store.tx((tx) => tx.insertMany({ into: 'api_keys', columns }, rows))
    const read: { sql: string; values: readonly Value[]; count: number }[] = []
    const counting = new Proxy(service.store, {
      get: (store, name) =>
        name === 'rows'
          ? async (sql: string, values: readonly Value[] = []) => {
              const found = await store.rows(sql, values)
              read.push({ sql, values, count: found.length })
              return found
            }
          : Reflect.get(store, name, store),
    })
    const pages = []
    for await (const page of keyPages(counting, principal(), many.id)) pages.push(ids(page))
    assert.deepEqual(pages, [[rows[5]![1], many.keyId]])
    const { sql, values, count } = read.at(-1)!
    assert.equal(count, 2)
    const plan = await service.store.tx((tx) =>
      engine.name === 'postgres'
        ? explainGeneric((text) => tx.rows(text), sql)
        : tx.rows(`explain query plan ${sql}`, values),
    )
    assert.match(JSON.stringify(plan), /api_keys_live/)
    assert.doesNotMatch(JSON.stringify(plan), /sort|temp/i)
  })
})
