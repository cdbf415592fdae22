// A search that finds long memories.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { searchMemories, type Recall } from '../../src/memory/recall.ts'
import type { Store } from '../../src/store/db.ts'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite } from '../support/service.ts'
import { memoryCalls } from './tools.ts'

onBothEngines((engine) => {
  const service = serviceForSuite(engine)

  test('[SRCH-12] long memories are marked as accessed each in a transaction of its own, short ones together', async () => {
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    const calls = memoryCalls(service)
    const metadata = { long: 'x'.repeat(70_000) }
    const made = [
      await calls.make(agent, { title: 'Short' }),
      await calls.make(agent, { title: 'Long', metadata }),
      await calls.make(agent, { title: 'Short too' }),
      await calls.make(agent, { title: 'Long too', metadata }),
    ]
    await service.clock.advance(60_000)
    const marked: number[] = []
    const store: Store = {
      ...service.store,
      tx: (work, options) =>
        service.store.tx(
          (tx) =>
            work({
              ...tx,
              async run(sql, values) {
                const rows = await tx.run(sql, values)
                if (sql.includes('update memories set accessed_at')) marked.push(rows)
                return rows
              },
            }),
          options,
        ),
    }
    const recall: Recall = async () => made.map(({ id }) => ({ id, score: 1, signals: {} as never }))
    const principal = {
      kind: 'agent',
      tenantId: tenant.id,
      id: agent.id,
      keyId: 'key',
      scopes: [],
      teamId: null,
    } as never
    await searchMemories(store, recall, principal, { query: 'long or short' }, { now: service.clock.now() })
    assert.deepEqual(marked, [2, 1, 1])
    const { memories } = await calls.list(agent, {})
    assert.deepEqual(
      new Set(memories.map(({ accessed_at }) => accessed_at)),
      new Set([new Date(service.clock.now()).toISOString()]),
    )
  })
})
