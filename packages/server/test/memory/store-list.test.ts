// Lists: filters, pages, totals, and the substring search with its index.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Memory } from '@sensorium/contract'
import { candidateQuery } from '../../src/memory/index/candidates.ts'
import { mayHold as mayHoldPostgres } from '../../src/memory/index/may-hold-postgres.ts'
import { mayHold as mayHoldSqlite } from '../../src/memory/index/may-hold-sqlite.ts'
import { fold } from '../../src/memory/index/fold.ts'
import { nextTurn } from '../../src/kernel/step-turns.ts'
import { seenBy, disjointSeenBy, type Viewer } from '../../src/memory/see.ts'
import { pageMemories } from '../../src/memory/page-memories.ts'
import type { Db, Store, Value } from '../../src/store/db.ts'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { START } from '../support/fake-clock.ts'
import { agentForSuite, serviceForSuite, tenantForSuite } from '../support/service.ts'
import { ids, memoryCalls, orgAdmin } from './tools.ts'

/** Returns the plans of the statements that `ask` runs, as text. */
async function plans(store: Store, ask: (db: Db) => Promise<unknown>): Promise<string> {
  const seen: string[] = []
  const spy: Db = {
    ...store,
    async rows<R>(sql: string, values: readonly Value[] = []) {
      const explain = store.dialect.engine === 'sqlite' ? 'explain query plan' : 'explain'
      for (const row of await store.rows<Record<string, string>>(`${explain} ${sql}`, values))
        seen.push(row['detail'] ?? row['QUERY PLAN'] ?? '')
      return store.rows<R>(sql, values)
    },
  }
  await ask(spy)
  return seen.join('\n')
}

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)
  const agent = agentForSuite(tenant)
  const calls = memoryCalls(service)

  test('[MEM-12] memories are listed newest first, filtered, paged and counted', async () => {
    const mate = await tenant.agent({ team: 'blue' })
    const made: Memory[] = []
    for (let i = 0; i < 60; i++) {
      const owner = i % 2 === 0 ? agent : mate
      made.unshift(
        await calls.make(owner, {
          type: ['episodic', 'entity', 'reflection'][i % 3],
          scope: ['agent', 'team', 'institutional'][i % 4 === 3 ? 2 : i % 3],
          team_id: 'blue',
          title: `n${i} of many`,
        }),
      )
    }
    const seen = made.filter((memory) => memory.agent_id === mate.id || memory.scope !== 'agent')
    for (const query of [{}, { search: 'MANY' }]) {
      const chosen = (more: Record<string, string>) => calls.list(mate, { ...query, ...more })
      assert.deepEqual(await chosen({}), { memories: seen.slice(0, 50), total: seen.length })
      assert.deepEqual(await chosen({ limit: '7', offset: '9' }), { memories: seen.slice(9, 16), total: seen.length })
      assert.deepEqual(await chosen({ offset: '1000' }), { memories: [], total: seen.length })
      for (const type of ['episodic', 'semantic', 'entity']) {
        const wanted = seen.filter((memory) => memory.type === type)
        assert.deepEqual(await chosen({ type, limit: '200' }), { memories: wanted, total: wanted.length })
        for (const scope of ['agent', 'team', 'institutional']) {
          const both = wanted.filter((memory) => memory.scope === scope)
          assert.deepEqual(await chosen({ type, scope, limit: '3' }), {
            memories: both.slice(0, 3),
            total: both.length,
          })
        }
      }
    }
    assert.deepEqual(await calls.list(mate, { search: '' }), await calls.list(mate))
  })

  test('[MEM-12] a filter or a page out of range is refused', async () => {
    const wrong = [
      'type=fact',
      'type=',
      'scope=tenant',
      'scope=',
      'limit=0',
      'limit=201',
      'limit=x',
      'offset=-1',
      'search=a%00b',
      'search=a&search=b',
      'type=entity&type=entity',
    ]
    for (const query of wrong) {
      assertError(await service.call(`GET /v1/memories?${query}`, { token: agent.token }), 'validation_failed', {
        field: query.split('=')[0],
      })
    }
    assert.equal((await service.call('GET /v1/memories?status=deleted&colour=red', { token: agent.token })).status, 200)
  })

  test('[MEM-13] search takes one literal substring of title or content, in any case, without wildcards', async () => {
    const reader = await tenant.agent()
    const texts: [title: string, content: string][] = [
      ['100% sure', 'snake_case and C:\\temp'],
      ['100 percent', 'snakeXcase'],
      ['Σίσυφος', 'Straße in İstanbul, ısı'],
      ['It\'s "quoted"', 'a*b? [c] (d) AND OR NOT NEAR'],
      ['漢字とかな', '東京都庁 🙂👍🏽'],
      ['first half', 'second half'],
      ['ПРИВЕТ мир', ' \t two  spaces\nand a line'],
      ['aaaa', 'aaaaaaaab'],
    ]
    for (const [title, content] of texts) await calls.make(reader, { title, content })
    const expected: Record<string, number[]> = {
      '%': [0],
      _: [0],
      '100%': [0],
      snake_case: [0],
      SNAKE: [0, 1],
      '\\': [0],
      'C:\\T': [0],
      '100': [0, 1],
      σίσυφοσ: [2],
      ΣΊΣΥΦΟΣ: [2],
      ς: [2],
      STRASSE: [],
      straẞe: [2],
      ß: [2],
      İ: [2],
      i̇: [],
      ISTANBUL: [],
      stanbul: [2],
      ısı: [2],
      isi: [],
      "'": [3],
      '"': [3],
      'it\'s "QUOTED"': [3],
      'a*b': [3],
      '*': [3],
      '?': [3],
      '[C]': [3],
      ' and or ': [3],
      AND: [0, 3, 6],
      漢: [4],
      東京: [4],
      京都庁: [4],
      '🙂': [4],
      '🏽': [4],
      '👍🏽': [4],
      '🙂👍🏽': [4],
      '\u{1F44D}': [4],
      half: [5],
      'first half second': [],
      halfs: [],
      'привет МИР': [6],
      'two  s': [6],
      'two spaces': [],
      '\n': [6],
      ' \t': [6],
      ' ': [0, 1, 2, 3, 4, 5, 6],
      a: [0, 1, 2, 3, 5, 6, 7],
      aaaaaaaab: [7],
      aaaaaaaaab: [],
      aab: [7],
      NEAR: [3],
      'near(': [],
      '"a" OR "b"': [],
    }
    for (const [search, found] of Object.entries(expected)) {
      const { memories, total } = await calls.list(reader, { search })
      const own = memories.filter((memory) => memory.agent_id === reader.id)
      assert.deepEqual(
        own.map(({ title }) => title),
        found.map((i) => texts[i]![0]).reverse(),
        JSON.stringify(search),
      )
      assert.equal(total, memories.length)
    }
  })

  test('[MEM-13] the search agrees with a scan of every text, on random texts', async () => {
    const reader = await tenant.agent()
    const alphabet = fc.constantFrom('a', 'A', 'b', 'é', 'Σ', 'ς', ' ', '%', '字', '🙂', '\ud83d\udc4d', "'")
    const anyText = fc.string({ unit: alphabet, minLength: 1, maxLength: 12 })
    const texts = fc.sample(fc.tuple(anyText, anyText), { numRuns: 60, seed: 7 })
    const made: Memory[] = []
    for (const [title, content] of texts) made.unshift(await calls.make(reader, { title: `x${title}`, content }))
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.string({ unit: alphabet, minLength: 1, maxLength: 5 }), fc.constantFrom(...texts.flat())),
        async (search) => {
          const wanted = fold(search)
          const found = made.filter(
            ({ title, content }) => fold(title).includes(wanted) || fold(content).includes(wanted),
          )
          const { memories, total } = await calls.list(reader, {
            search,
            limit: '200',
            type: 'semantic',
            scope: 'agent',
          })
          assert.deepEqual([ids(memories), total], [ids(found), found.length])
        },
      ),
      { numRuns: 150 },
    )
  })

  test('[MEM-13] [MEM-14] a long text is found by any part, and after a change only by its new text', async () => {
    const reader = await tenant.agent()
    const content = Array.from({ length: 32_768 / 8 }, (_, i) => (i * 7919).toString(36).padStart(8, 'é')).join('')
    const { id } = await calls.make(reader, { content })
    for (const search of [
      content.slice(0, 50),
      content.slice(-9).toUpperCase(),
      content.slice(15_000, 16_500),
      'é'.repeat(5),
    ]) {
      assert.deepEqual(ids((await calls.list(reader, { search })).memories), [id])
    }
    assert.equal((await calls.list(reader, { search: `${content.slice(15_000, 16_000)}!` })).total, 0)
    await calls.patch(reader, id, { content: 'short' })
    assert.equal((await calls.list(reader, { search: content.slice(0, 50) })).total, 0)
    for (const search of ['SHORT', 'A TITLE']) assert.equal((await calls.list(reader, { search })).total, 1)
  })

  test('[MEM-13] the index of one tenant serves no other tenant, nor its org-admin', async () => {
    const other = await service.tenant()
    const secret = await calls.make(await other.agent(), { title: 'quixotic', scope: 'institutional' })
    assert.equal((await calls.list(await orgAdmin(service, tenant), { search: 'quixotic' })).total, 0)
    assert.deepEqual(ids((await calls.list(await orgAdmin(service, other), { search: 'quixotic' })).memories), [
      secret.id,
    ])
  })

  test('[MEM-12] [MEM-13] lists and searches read indexes, never all memories', async () => {
    const { store } = service
    // Enough rows to give the planner a choice.
    const many = await service.tenant('many')
    const owner = await many.agent({ team: 'blue' })
    const { id: original } = await calls.make(owner, { title: 'needle in a haystack' })
    await store.tx(async (tx) => {
      const [row] = await tx.rows<Record<string, Value>>('select * from memories where id = ?', [original])
      const columns = Object.keys(row!)
      const types = (name: string) =>
        /_at|_date|_bytes|version/.test(name)
          ? 'bigint'
          : /confidence|importance/.test(name)
            ? 'double precision'
            : 'text'
      const insert = {
        into: 'memories',
        columns: Object.fromEntries(columns.map((name) => [name, types(name)])) as Record<string, 'text'>,
      }
      const copies = Array.from({ length: 20_000 }, (_, i) => ({
        ...row!,
        id: `mem_${String(i).padStart(26, '0')}`,
        agent_id: `agt_${i % 1000}`,
      }))
      await tx.insertMany(
        insert,
        copies.map((copy) => columns.map((name) => (copy as Record<string, Value>)[name]!)),
      )
      // Texts with other grams, about as many and as long as in real ones.
      if (engine.name === 'postgres') {
        await tx.run(
          `insert into memory_texts (tenant_id, id, title, content, grams)
           select tenant_id, id, 'hay', repeat(id, 20), array(select abs(hashtext(m.id || n)) % 3000 from generate_series(1, 60) n)
             from memories m where tenant_id = ? and id <> ? limit 5000`,
          [many.id, original],
        )
        await tx.rows(`select gin_clean_pending_list('memory_texts_by_gram')`)
      } else {
        await tx.run(
          `insert into memory_texts (tenant_id, id, title, content) select tenant_id, id, 'hay', 'hay' from memories where tenant_id = ? and id <> ?`,
          [many.id, original],
        )
        await tx.run(
          `insert into memory_grams (rowid, grams) select doc, 'a b c' from memory_texts where tenant_id = ? and title = 'hay'`,
          [many.id],
        )
      }
    })
    const viewer: Viewer = { kind: 'agent', id: owner.id, tenantId: many.id, teamId: 'blue' }
    const admin: Viewer = { ...viewer, kind: 'org_admin' }

    const mayHold = engine.name === 'sqlite' ? mayHoldSqlite : mayHoldPostgres
    const searchPlans = async () => {
      for (const who of [viewer, admin]) {
        const search = (text: string) => {
          const { sql, values } = candidateQuery(mayHold, who, text, seenBy(who, START), 50_000)
          return plans(store, (db) => db.rows(sql, values))
        }
        for (const text of ['needle in a hay', 'ne', 'n']) {
          const plan = await search(text)
          if (engine.name === 'sqlite') {
            assert.match(plan, /SCAN memory_grams VIRTUAL TABLE INDEX 0:M/)
            assert.match(plan, /SEARCH t USING INTEGER PRIMARY KEY/)
            assert.match(plan, /SEARCH m USING INDEX \w+ \(tenant_id=\? AND id=\?\)/)
            assert.doesNotMatch(plan, /SCAN (t|m|memories)\b|\(tenant_id=\?\)/)
          } else {
            assert.match(plan, /Bitmap Index Scan on memory_texts_by_gram/)
            assert.doesNotMatch(plan, /Seq Scan/)
          }
        }
      }
    }
    // SQLite plans without statistics until `analyze` is run; PostgreSQL collects them by itself.
    if (engine.name === 'sqlite') await searchPlans()
    await store.tx((tx) => tx.run('analyze'))
    await searchPlans()
    const plan = await plans(store, (db) =>
      pageMemories(db, many.id, disjointSeenBy(viewer, START, undefined), 0, 50, nextTurn),
    )
    for (const index of ['memories_owned', 'memories_of_team', 'memories_institutional'])
      assert.match(plan, new RegExp(index))
    if (engine.name === 'sqlite') assert.doesNotMatch(plan, /SCAN m\b/)
    assert.match(
      await plans(store, (db) => pageMemories(db, many.id, disjointSeenBy(admin, START, undefined), 0, 50, nextTurn)),
      /memories_live|memories_pkey/,
    )
    assert.deepEqual(ids((await calls.list(owner, { search: 'NEEDLE' })).memories), [original])
  })
})
