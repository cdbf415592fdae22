// The words that the search thread caches follow new texts, with bounded work for each search.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  applyChanges,
  MAX_PATCHED_BYTES,
  columnsFromCells,
  weightNames,
} from '../../../src/memory/index/memory-columns.ts'
import { Postings, posting } from '../../../src/memory/index/postings.ts'
import { TenantColumns } from '../../../src/memory/index/tenant-columns.ts'
import type { Reads, Value } from '../../../src/store/db.ts'
import { onBothEngines } from '../../support/engines.ts'
import { START } from '../../support/fake-clock.ts'
import { startService, type Service, type TestAgent, type TestTenant } from '../../support/service.ts'
import { memoryCalls, titlesOf } from '../tools.ts'

test('[RCL-58] cached words are patched by the words of the new texts, not by a look into each text', () => {
  const postings = new Postings()
  for (let i = 0; i < 1_000; i++) postings.put(`other${i}`, posting([], []))
  postings.put('ferry', posting([1, 2, 3], [5, 6, 7]))
  let looks = 0
  class Counts extends Map<string, number> {
    override has(term: string): boolean {
      looks++
      return super.has(term)
    }
    override get(term: string): number | undefined {
      looks++
      return super.get(term)
    }
  }
  const texts = [
    { row: 2, changed: true, counts: new Counts([['train', 1]]) },
    { row: 3, changed: true, counts: new Counts([['ferry', 9]]) },
    { row: 4, changed: false, counts: new Counts([['ferry', 70_000]]) },
  ]
  postings.patch(texts)
  assert.deepEqual(postings.get('ferry'), posting([1, 3, 4], [5, 9, 65_535]))
  assert.equal(postings.get('train'), undefined, 'a word that was not cached is not cached now')
  assert.ok(looks <= 3, `${looks} looks`)
})

onBothEngines((engine) => {
  let service: Service
  let tenant: TestTenant
  let agent: TestAgent
  let calls: ReturnType<typeof memoryCalls>
  before(async () => {
    // Nothing listens there: these tests are about words, and long texts take seconds to embed.
    service = await startService(engine, { EMBEDDINGS: 'http://127.0.0.1:9', EMBEDDINGS_MODEL: 'none' })
    tenant = await service.tenant()
    agent = await tenant.agent()
    calls = memoryCalls(service)
  })
  after(() => service.stop())

  /** Applies new memories to columns that have cached a word and a letter. Returns how many characters were read. */
  async function apply(columns: TenantColumns, ids: readonly string[]): Promise<number> {
    columns.postings.put('ferri', posting([], []))
    columns.vocabularies.set('f', new Map())
    let characters = 0
    const db: Reads = {
      dialect: service.store.dialect,
      async rows<R>(sql: string, values?: readonly Value[]) {
        const rows = await service.store.rows<R>(sql, values)
        characters += JSON.stringify(rows).length
        return rows
      },
    }
    const rows = ids.map((id) =>
      columnsFromCells(tenant.id, [id, agent.id, null, 'agent', 'semantic', null, 3, 1, 1, 0.5, START], null),
    )
    await applyChanges(db, columns, tenant.id, new Set(ids), rows, [])
    return characters
  }

  test('[RCL-58] of new texts a search analyses 64 KiB; of more it reads none, and its words are read again', async () => {
    const half = 'ferry '.repeat(MAX_PATCHED_BYTES / 12 - 10)
    const made = [await calls.make(agent, { title: 'One', content: half }), await calls.make(agent, { content: half })]
    const [one, two] = made.map(({ id }) => id) as [string, string]
    const few = new TenantColumns(weightNames)
    assert.ok((await apply(few, [one, two])) > 2 * half.length)
    assert.equal(few.postings.get('ferri')!.rows.length, 2)
    assert.equal(few.vocabularies.get('f')!.get('ferri'), 2)
    const three = await calls.make(agent, { title: 'Three', content: 'ferry '.repeat(100) })
    const many = new TenantColumns(weightNames)
    assert.ok((await apply(many, [one, two, three.id])) < 1_000)
    assert.deepEqual([many.postings.get('ferri'), many.vocabularies.size, many.ids.length], [undefined, 0, 3])
    // Bytes count, not characters: a script of three bytes a character takes the longest to analyse.
    const thai = await calls.make(agent, { title: 'Four', content: 'ก'.repeat(MAX_PATCHED_BYTES / 3 + 1) })
    const bytes = new TenantColumns(weightNames)
    assert.ok((await apply(bytes, [thai.id])) < 1_000)
    assert.equal(bytes.postings.get('ferri'), undefined)
  })

  test('[RCL-58] after many long texts a search finds them, and what it found before', async () => {
    const other = await tenant.agent()
    await calls.make(other, { title: 'Short', content: 'The lighthouse is closed.' })
    assert.deepEqual(titlesOf(await calls.search(other, 'lighthouse')), ['Short'])
    for (const title of ['Long one', 'Long two', 'Long three'])
      await calls.make(other, { title, content: `lighthouse ${'filler text '.repeat(2_500)}` })
    const found = await calls.search(other, 'lighthouse', { explain: true })
    assert.deepEqual(titlesOf(found).sort(), ['Long one', 'Long three', 'Long two', 'Short'])
    assert.ok(found.every(({ signals }) => signals!.lexical > 0))
  })
})
