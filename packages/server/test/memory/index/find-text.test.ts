// What the main thread is sent while a text is looked for in very many memories.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeFindText } from '../../../src/memory/index/find-text.ts'
import { mayHold as mayHoldPostgres } from '../../../src/memory/index/may-hold-postgres.ts'
import { mayHold as mayHoldSqlite } from '../../../src/memory/index/may-hold-sqlite.ts'
import { makeSearch, type SearchThread } from '../../../src/memory/index/search.ts'
import { disjointGone, seenBy, type Viewer } from '../../../src/memory/see.ts'
import { databaseFile } from '../../../src/store/data-directory.ts'
import { onBothEngines } from '../../support/engines.ts'
import { START } from '../../support/fake-clock.ts'
import { serviceForSuite } from '../../support/service.ts'
import { aMemory, memoryCalls } from '../tools.ts'

const COUNT = 400

/** How many values a message consists of. */
const valuesOf = (message: unknown): number =>
  message !== null && typeof message === 'object'
    ? Object.values(message).reduce((sum: number, value) => sum + valuesOf(value), 1)
    : 1

onBothEngines((engine) => {
  const service = serviceForSuite(engine)

  test('[MEM-13] [SAFE-70] the thread sends the ids of candidates as a few texts, and a part of them at once', async () => {
    const calls = memoryCalls(service)
    const tenant = await service.tenant()
    const owner = await tenant.agent()
    const lines = Array.from({ length: COUNT }, (_, i) => ({
      ...aMemory,
      title: `Note ${i}`,
      content: i % 10 === 7 ? 'Green tea' : 'Tea',
    }))
    await calls.imported(owner, lines)
    const viewer: Viewer = { kind: 'agent', id: owner.id, tenantId: tenant.id, teamId: null }
    const all = (await calls.list(owner, { search: 'tea', limit: '200' })).total
    assert.equal(all, COUNT)

    const { env } = service
    const thread = makeSearch(
      engine.name === 'sqlite' ? { file: databaseFile(env['DATA_DIR']!) } : { url: env['DATABASE_URL']! },
    )
    const messages: number[] = []
    const noted: SearchThread = {
      ...thread,
      async ask(...asked) {
        const response = await thread.ask(...asked)
        messages.push(valuesOf(asked[2]), valuesOf(response))
        return response
      },
    }
    const mayHold = engine.name === 'sqlite' ? mayHoldSqlite : mayHoldPostgres
    try {
      const find = (most: number, text: string) =>
        makeFindText(mayHold, noted, most)(viewer, text, seenBy(viewer, START))
      const whole = await find(10_000, 'TEA')
      assert.deepEqual(whole, whole.toSorted().reverse())
      assert.equal(new Set(whole).size, COUNT)
      assert.equal(messages.length, 4, 'one message for the candidates, and one for those that hold the text')
      for (const most of [150, 200, COUNT]) {
        messages.length = 0
        assert.deepEqual(await find(most, 'tea'), whole)
        assert.equal((await find(most, 'green')).length, COUNT / 10)
        assert.deepEqual(await find(most, 'coffee'), [])
        assert.ok(Math.max(...messages) < 20, `${Math.max(...messages)} values in a message`)
      }
      await service.store.tx((tx) => tx.run("update memories set status = 'deleted' where tenant_id = ?", [tenant.id]))
      messages.length = 0
      const [gone] = disjointGone(viewer, 'deleted', START)
      assert.deepEqual(await makeFindText(mayHold, noted, 150)(viewer, 'tea', gone!, true), whole)
      assert.ok(Math.max(...messages) < 20, `${Math.max(...messages)} values in a message`)
    } finally {
      await thread.close()
    }
  })
})
