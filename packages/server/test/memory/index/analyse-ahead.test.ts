// Every verb that writes a long text has it analysed before its transaction.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { onBothEngines } from '../../support/engines.ts'
import { startService, type Service, type TestAgent } from '../../support/service.ts'
import { makeAnalyse, NOTHING_AHEAD } from '../../../src/memory/index/analyse.ts'
import { TITLE_WEIGHT } from '../../../src/memory/index/terms.ts'
import { PART } from '../../../src/memory/index/write-sqlite.ts'
import { countWords } from '../count-words.ts'
import { aMemory, everyCharacter, memoryCalls } from '../tools.ts'

test('[LOAD-3] few long texts are analysed at once, some of them for other tenants, and the rest wait', async () => {
  let underWay = 0
  let most = 0
  const begun: string[] = []
  const { analyseAhead } = makeAnalyse(function* (tenantId) {
    begun.push(tenantId)
    most = Math.max(most, ++underWay)
    yield
    underWay--
    return []
  })
  const text = 'word '.repeat(1_000)
  const loud = Array.from({ length: 40 }, (_, i) => analyseAhead({ tenantId: 'loud', id: 'a' }, `${i}`, text))
  await Promise.all([...loud, analyseAhead({ tenantId: 'quiet', id: 'b' }, 'one', text)])
  assert.ok(most <= 4, `${most} at once`)
  assert.equal(begun.length, 41)
  assert.ok(begun.indexOf('quiet') < 6, String(begun))
})

test('[LOAD-13] no text is analysed before there is room for its words', async () => {
  const begun: string[] = []
  const room = Promise.withResolvers<void>()
  const { analyseAhead } = makeAnalyse(
    function* (tenantId) {
      begun.push(tenantId)
      yield
      return []
    },
    () => room.promise,
  )
  const analysis = analyseAhead({ tenantId: 'one', id: 'a' }, 'title', 'word '.repeat(1_000))
  for (let turn = 0; turn < 20; turn++) await nextTurn()
  assert.deepEqual(begun, [])
  room.resolve()
  await analysis
  assert.deepEqual(begun, ['one'])
})

test('[LOAD-13] of two that send the same text each waits for its own words', async () => {
  const { analyseAhead, take, drop } = makeAnalyse(function* () {
    yield
    return []
  })
  const content = 'word '.repeat(1_000)
  const ahead = () => analyseAhead({ tenantId: 'one', id: 'a' }, 'title', content)
  const [first, second] = [await ahead(), await ahead()]
  const isOver = async (waiting: Promise<void>): Promise<boolean> => {
    let over = false
    void waiting.then(() => (over = true))
    for (let turn = 0; turn < 5; turn++) await nextTurn()
    return over
  }
  const writes = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const
  const texts = { tenant_id: 'one', title: 'title', content }
  // Nobody can tell whose transaction it was.
  take(texts).noteWrite!(writes[0].promise)
  drop(texts)
  for (const { written } of [first, second]) assert.equal(await isOver(written()), false)
  writes[0].resolve()
  take(texts).noteWrite!(writes[1].promise)
  drop(texts)
  for (const { written } of [first, second]) assert.equal(await isOver(written()), false)
  writes[1].resolve()
  for (const { written } of [first, second]) assert.equal(await isOver(written()), true)
})

test('[LOAD-13] the words of a text are waited for, however many other texts are analysed before its commit', async () => {
  const { analyseAhead, take, drop } = makeAnalyse(function* () {
    yield
    return []
  })
  const texts = { tenant_id: 'one', title: 'title', content: 'word '.repeat(1_000) }
  const { written } = await analyseAhead({ tenantId: 'one', id: 'a' }, texts.title, texts.content)
  const { noteWrite } = take(texts)
  for (let i = 0; i < 9; i++) await analyseAhead({ tenantId: 'two', id: 'b' }, `${i}`, texts.content)
  assert.equal(take(texts).noteWrite, null, 'it is not kept any more')
  const write = Promise.withResolvers<void>()
  noteWrite!(write.promise)
  drop(texts)
  let isOver = false
  void written().then(() => (isOver = true))
  for (let turn = 0; turn < 5; turn++) await nextTurn()
  assert.equal(isOver, false)
  write.resolve()
  for (let turn = 0; turn < 5; turn++) await nextTurn()
  assert.equal(isOver, true)
})

test('[LOAD-3] an analysis ends, or is not begun, when its client has gone', async () => {
  const begun: string[] = []
  let ended = 0
  const gone = new Set<string>()
  const { analyseAhead } = makeAnalyse(function* (tenantId) {
    begun.push(tenantId)
    for (let i = 0; i < 20; i++) {
      gone.add(tenantId)
      yield
    }
    ended++
    return []
  })
  const text = 'word '.repeat(1_000)
  const analyses = await Promise.allSettled(
    // Four are under way at once, of which two are for tenants with none.
    Array.from({ length: 10 }, (_, i) =>
      analyseAhead({ tenantId: 'one', id: 'a', isGone: () => gone.has('one') }, `${i}`, text),
    ),
  )
  assert.deepEqual(new Set(analyses.map(({ status }) => status)), new Set(['rejected']))
  assert.ok(begun.length <= 2, `${begun.length} begun`)
  assert.equal(ended, 0)
  await analyseAhead({ tenantId: 'one', id: 'a', isGone: () => false }, 'last', text)
  assert.equal(ended, 1, 'their places are free again')
})

onBothEngines((engine) => {
  let service: Service
  let agent: TestAgent
  let calls: ReturnType<typeof memoryCalls>
  before(async () => {
    service = await startService(engine)
    agent = await (await service.tenant()).agent()
    calls = memoryCalls(service)
  })
  after(() => service.stop())

  /** Returns the texts that were analysed ahead, by their first word, while `work` was done. */
  async function analysedBy(work: () => Promise<unknown>): Promise<string[]> {
    const { index } = service.app.memory
    const { analyseAhead } = index
    const texts: string[] = []
    index.analyseAhead = (caller, title, content) => {
      texts.push(...[title, content].map((text) => text.split(' ')[0]!))
      return analyseAhead(caller, title, content)
    }
    try {
      await work()
    } finally {
      index.analyseAhead = analyseAhead
    }
    return texts
  }
  const long = (word: string): string => `${word} `.repeat(2_000)

  test('[LOAD-3] a restored version is analysed ahead, if its text is not the present one', async () => {
    const { id } = await calls.make(agent, { title: 'one', content: long('first') })
    await calls.patch(agent, id, { content: long('second') })
    await calls.patch(agent, id, { title: 'two' })
    await calls.patch(agent, id, { confidence: 0.25 })
    const restore = (version: number, by = agent) =>
      service.call(`POST /v1/memories/${id}/restore`, { token: by.token, body: { version } })
    const restored = async (version: number) => {
      const texts = await analysedBy(async () => assert.equal((await restore(version)).status, 200))
      const { title, content } = (await calls.get(agent, id)).body
      return [texts, [title, content.split(' ')[0]!]]
    }
    assert.deepEqual(await restored(3), [[], ['two', 'second']])
    assert.deepEqual(await restored(2), [
      ['one', 'second'],
      ['one', 'second'],
    ])
    assert.deepEqual(await restored(1), [
      ['one', 'first'],
      ['one', 'first'],
    ])
    const other = await (await service.tenant()).agent()
    assert.deepEqual(await analysedBy(async () => assert.equal((await restore(2, other)).status, 404)), [])
  })

  test('[LOAD-3] a change of either text has both analysed ahead, and another change none', async () => {
    const { id } = await calls.make(agent, { title: 'one', content: long('first') })
    const changed = (changes: object, status = 200, by = agent) =>
      analysedBy(async () => assert.equal((await calls.patch(by, id, changes)).status, status))
    assert.deepEqual(await changed({ title: 'two' }), ['two', 'first'])
    assert.deepEqual(await changed({ title: 'two' }), [], 'the title that it has')
    assert.deepEqual(await changed({ content: long('second') }), ['two', 'second'])
    assert.deepEqual(await changed({ content: long('second') }), [], 'the content that it has')
    assert.deepEqual(await changed({ title: 'three', content: long('third') }), ['three', 'third'])
    assert.deepEqual(await changed({ title: long('title'), content: 'short' }), ['title', 'short'])
    assert.deepEqual(await changed({ content: 'shorter' }), ['title', 'shorter'])
    assert.deepEqual(await changed({ confidence: 0.25 }), [])
    const other = await (await service.tenant()).agent()
    assert.deepEqual(await changed({ title: 'four' }, 404, other), [])
    // A wrong value is refused first, whichever fields are sent.
    const passed = { expires_at: '2001-01-01T00:00:00Z' }
    for (const title of [{}, { title: 'four' }]) await changed({ ...passed, ...title }, 400, other)
  })

  test('[LOAD-3] a memory that is promoted is analysed ahead, if its texts are long', async () => {
    const { id } = await calls.make(agent, { title: 'one', content: long('first') })
    const short = await calls.make(agent, { title: 'one', content: 'short' })
    const other = await (await service.tenant()).agent()
    const promoted = (of: string, status = 200, by = agent) =>
      analysedBy(async () => {
        const request = { token: by.token, body: { scope: 'institutional' } }
        assert.equal((await service.call(`POST /v1/memories/${of}/promote`, request)).status, status)
      })
    assert.deepEqual(await promoted(id, 404, other), [])
    assert.deepEqual(await promoted(id), ['one', 'first'])
    assert.deepEqual(await promoted(short.id), [])
  })

  test('[RCL-4] every word of a long text counts as often on either engine, and three times in the title', async () => {
    const [title, content] = ['日本語漢字'.repeat(1_500), `${'日本 '.repeat(3_000)}${everyCharacter.slice(0, 9_000)}`]
    const { id } = await calls.make(agent, { title, content })
    const { counts, length } = countWords(title, content)
    const kept = await service.store.rows<{ word: string; frequency: number; length: number }>(
      service.store.dialect.engine === 'sqlite'
        ? `select term as word, r.length,
                  sum(case col when 'title' then ${TITLE_WEIGHT} else 1 end) as frequency
             from memory_word_places p join memory_recall r on r.doc = p.doc % ${PART} where r.memory_id = ? group by term, r.length`
        : 'select word, length, frequency from memory_words where memory_id = ?',
      [id],
    )
    assert.deepEqual(
      new Map(kept.map(({ word, frequency }) => [word.slice(word.lastIndexOf('_') + 1), frequency])),
      counts,
    )
    assert.deepEqual(new Set(kept.map((row) => row.length)), new Set([length]))
  })

  test('[LOAD-3] nothing is written for a client that goes away before the transaction', async () => {
    const { id } = await calls.make(agent, { title: 'one', content: long('first') })
    await calls.patch(agent, id, { content: long('second') })
    const { index } = service.app.memory
    const { analyseAhead } = index
    const gone = { ...aMemory, title: 'gone', content: long('gone') }
    for (const [call, body] of [
      ['POST /v1/memories', gone],
      ['PUT /v1/memories/by-external-id/gone', gone],
      [`PATCH /v1/memories/${id}`, { content: long('gone') }],
      [`POST /v1/memories/${id}/promote`, { scope: 'institutional' }],
      [`POST /v1/memories/${id}/restore`, { version: 1 }],
      ['POST /v1/memories/import', gone],
    ] as const) {
      const [method, path] = call.split(' ')
      const leaving = new AbortController()
      const analysed = Promise.withResolvers<void>()
      index.analyseAhead = async (caller, title, content) => {
        leaving.abort()
        while (!caller.isGone!()) await nextTurn()
        analysed.resolve()
        // An import goes away in the analysis, the others after it.
        return path!.endsWith('import') ? analyseAhead(caller, title, content) : NOTHING_AHEAD
      }
      const headers = {
        authorization: `Bearer ${agent.token}`,
        'content-type': path!.endsWith('import') ? 'application/x-ndjson' : 'application/json',
      }
      const { signal } = leaving
      const sent = fetch(`${service.url}${path}`, { method: method!, headers, body: JSON.stringify(body), signal })
      await assert.rejects(sent, { name: 'AbortError' })
      await analysed.promise
      index.analyseAhead = analyseAhead
      const { content, scope } = (await calls.get(agent, id)).body
      assert.deepEqual([content.split(' ')[0], scope], ['second', 'agent'], call)
      assert.equal((await calls.list(agent, { search: 'gone' })).total, 0, call)
    }
  })

  test('[LOAD-3] the lines of an import are analysed ahead', async () => {
    const line = JSON.stringify({ ...aMemory, title: 'three', content: long('third') })
    const texts = await analysedBy(async () => {
      const reply = await calls.importLines(agent, `${line}\nwrong\n`)
      assert.deepEqual([reply.body.created, reply.body.failed], [1, 1], reply.text)
    })
    assert.deepEqual(texts, ['three', 'third'])
  })
})
