// POST /memories/search with the built-in model, over HTTP.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SearchResult } from '@sensorium/contract'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { serviceForSuite, tenantForSuite } from '../support/service.ts'
import { memoryCalls, type Actor, titlesOf } from './tools.ts'

interface Found {
  results: SearchResult[]
  total: number
}

// No question has a word in common with its memory.
const KNOWN: [title: string, content: string, question: string][] = [
  [
    'Friday deploys',
    'Three of the last four releases at the end of the week were rolled back.',
    'when should we avoid shipping software?',
  ],
  ['Office parking', 'The garage gate opens with the blue badge only.', 'how do I get my car into the building?'],
  [
    'Ada likes tea',
    'Ada never drinks coffee; green tea without sugar is her choice.',
    'what beverage does she prefer?',
  ],
  [
    'Database backup',
    'Snapshots of the primary are taken at 02:00 and kept for a month.',
    'how long can we restore lost data?',
  ],
  ['Customer Globex', 'Globex pays its invoices about twenty days late.', 'which client is slow with money?'],
  ['Printer on floor 2', 'The laser printer jams with thick paper.', 'why does it get stuck on cardboard sheets?'],
  ['Team lunch', 'We eat together every Wednesday at the Italian place.', 'where do colleagues have a shared meal?'],
  [
    'Login outage',
    'Users could not sign in because a certificate had expired.',
    'what caused the authentication incident?',
  ],
  [
    'Berlin trip',
    'The train takes four hours and the hotel is next to the station.',
    'travelling to the German capital',
  ],
  ['Password policy', 'Secrets rotate every ninety days and need sixteen characters.', 'rules for credentials'],
  ['Garden', 'The roses bloom in June when they get water twice a week.', 'caring for flowers'],
  [
    'Pricing',
    'The enterprise plan costs nine hundred euros per seat and year.',
    'how expensive is the large subscription?',
  ],
]

const orders: Record<string, string[][]> = {}

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)
  const memory = memoryCalls(service)

  const reply = (by: Actor, body: object) => service.call<Found>('POST /v1/memories/search', { token: by.token, body })
  const search: (typeof memory)['search'] = (...asked) => memory.search(...asked)
  const embedded = () => service.app.memory.embedding.idle()

  test('[SRCH-8] [SRCH-14] [EMB-1] a dozen memories are found by their meaning, the same on both stores', async () => {
    const agent = await tenant.agent()
    for (const [title, content] of KNOWN) await memory.make(agent, { title, content })
    await embedded()
    let first = 0
    const mine: string[][] = []
    for (const [title, , question] of KNOWN) {
      const found = titlesOf(await search(agent, question))
      mine.push(found.slice(0, 3))
      assert.ok(found.slice(0, 3).includes(title), `${question}: ${found.slice(0, 3)}`)
      if (found[0] === title) first++
    }
    assert.ok(first >= 10, `${first} of ${KNOWN.length} came first`)
    orders[engine.name] = mine
    // The second engine to run compares the two.
    if (orders['sqlite'] && orders['postgres']) assert.deepEqual(orders['postgres'], orders['sqlite'])
  })

  test('[SRCH-8] a short memory is found by its meaning by a search right after its 201', async () => {
    const agent = await tenant.agent()
    await memory.make(agent, { title: 'Note', content: 'The cat sleeps on the windowsill.' })
    await memory.make(agent, { title: 'Note', content: 'Quarterly revenue went up by ten percent.' })
    const [best] = await search(agent, 'feline pet taking a nap', { explain: true })
    assert.equal(best!.memory.content, 'The cat sleeps on the windowsill.')
    assert.ok(best!.signals!.similarity > 0.3, JSON.stringify(best!.signals))
    assert.equal(best!.signals!.lexical, 0)
  })

  test('[RCL-14] a memory that answers the query ranks above one with one of its words in passing', async () => {
    const agent = await (await service.tenant()).agent()
    for (const [title, content] of [
      ['Coffee beans', 'We are out of coffee beans; the roaster delivers on Monday.'],
      ['Soup kitchen', 'The soup kitchen on Main Street opens at noon and needs volunteers.'],
      ['Lentil stew', 'Boil lentils with carrots, celery and garlic in broth for forty minutes and season with cumin.'],
      ['VPN', 'My vpn is broken again.'],
    ])
      await memory.make(agent, { title, content })
    await embedded()
    for (const question of [
      'What is a recipe for bean soup?',
      'How do I cook a bean soup?',
      'How is bean soup made?',
      'What goes into a good bean soup?',
      'I want to make a soup from pulses, how?',
    ])
      assert.equal(titlesOf(await search(agent, question))[0], 'Lentil stew', question)
    // A question about the word itself finds the memory about it.
    for (const question of ['When does the soup kitchen open?', 'Where can I help out with soup for the poor?'])
      assert.equal(titlesOf(await search(agent, question))[0], 'Soup kitchen', question)
  })

  test('[SRCH-7] a memory is found by its words at once, before its meaning is known', async () => {
    const agent = await tenant.agent()
    const made = await memory.make(agent, { title: 'Zyxwvut', content: 'Something about the flibbertigibbet.' })
    const found = await service.app.memory.recall(
      { kind: 'agent', id: agent.id, tenantId: tenant.id, teamId: null },
      'flibbertigibbets',
      { budgetMs: 10_000 },
    )
    assert.equal(found[0]!.id, made.id)
    assert.equal((await search(agent, 'zyxwvut'))[0]!.memory.id, made.id)
  })

  test('[SRCH-7] a word of one character is found inside a running text', async () => {
    const agent = await tenant.agent()
    for (const content of ['会議は火曜日に移った', '新しい橋が完成した', '昨日の売上は良かった'])
      await memory.make(agent, { title: 'メモ', content })
    await memory.make(agent, { title: 'メモ', content: 'うちの猫は黒い' })
    const [best] = await search(agent, '猫', { explain: true })
    assert.equal(best!.memory.content, 'うちの猫は黒い')
    assert.ok(best!.signals!.lexical > 0)
  })

  test('[SRCH-14] the vector of a text does not depend on the texts embedded with it', async () => {
    const agent = await tenant.agent()
    const text = { title: 'Invoice', content: 'Our invoice was paid late by the customer.' }
    const alone = await memory.make(agent, text)
    await embedded()
    const long =
      'The quarterly report speaks of bridges, volcanoes, 1,024 penguins and the price of copper in Chile. '.repeat(6)
    const [crowded] = await Promise.all([
      memory.make(agent, text),
      ...Array.from({ length: 40 }, (_, i) => memory.make(agent, { title: `Noise ${i}`, content: long.slice(i * 7) })),
    ])
    await embedded()
    const vectors = await service.store.rows<{ vector: Uint8Array; tokens: Uint8Array }>(
      `select vector, tokens from memory_vectors where tenant_id = ? and ${service.store.dialect.inList('memory_id')}`,
      [tenant.id, service.store.dialect.list([alone.id, crowded.id])],
    )
    assert.equal(vectors.length, 2)
    assert.deepEqual(Buffer.from(vectors[0]!.vector), Buffer.from(vectors[1]!.vector))
    assert.deepEqual(Buffer.from(vectors[0]!.tokens), Buffer.from(vectors[1]!.tokens))
    const asked = (queries: string[]) =>
      Promise.all(
        queries.map(async (query) =>
          (await search(agent, query, { explain: true })).map(({ signals }) => signals!.similarity),
        ),
      )
    const [lone] = await asked(['money owed'])
    assert.deepEqual(
      (await asked(['penguins of Chile and what they cost', 'money owed', long.slice(0, 300), 'copper', 'late']))[1],
      lone,
    )
  })

  test('[SRCH-1] [SRCH-3] [SRCH-4] [SRCH-11] results have falling scores, a total, and optional signals', async () => {
    const agent = await tenant.agent()
    for (let i = 0; i < 15; i++)
      await memory.make(agent, { title: `Report ${i}`, content: `Sales of region ${i} in spring` })
    await embedded()
    const { body } = await reply(agent, { query: 'sales reports' })
    assert.deepEqual(Object.keys(body).sort(), ['results', 'total'])
    assert.equal(body.results.length, 10)
    for (const [i, result] of body.results.entries()) {
      assert.deepEqual(Object.keys(result).sort(), ['memory', 'score'])
      assert.ok(result.score >= 0 && result.score <= 1)
      if (i > 0) assert.ok(result.score <= body.results[i - 1]!.score)
    }
    assert.deepEqual(
      Object.keys(body.results[0]!.memory).sort(),
      Object.keys((await memory.get(agent, body.results[0]!.memory.id)).body).sort(),
    )
    const explained = await search(agent, 'sales reports', { explain: true, limit: 3 })
    assert.equal(explained.length, 3)
    for (const { signals } of explained) {
      assert.deepEqual(
        Object.keys(signals!).sort(),
        'confidence feedback importance lexical recency similarity tokens'.split(' '),
      )
      for (const value of Object.values(signals!)) assert.ok(value >= 0 && value <= 1)
    }
    assert.equal((await search(agent, 'sales', { limit: 100 })).length, 15)
  })

  for (const [field, value] of [
    ['query', '  \n'],
    ['query', ''],
    ['query', undefined],
    ['limit', 0],
    ['limit', 101],
    ['limit', 1.5],
    ['min_confidence', 1.1],
    ['min_confidence', -1],
    ['scope', 'world'],
    ['type', 'dream'],
  ] as const) {
    test(`[SRCH-2] ${field} ${JSON.stringify(value)} is refused`, async () => {
      assertError(
        await reply({ token: tenant.admin, id: '' }, { query: 'a question', [field]: value }),
        'validation_failed',
        { field },
      )
    })
  }

  test('[SRCH-5] [SRCH-6] visibility and filters come before ranking; an org-admin searches everything', async () => {
    const here = await service.tenant()
    const [ada, bob, cyd] = await Promise.all([
      here.agent({ team: 'blue' }),
      here.agent({ team: 'blue' }),
      here.agent(),
    ])
    // 120 better ones that ada may not see, or that the filter excludes: more than a list of candidates holds.
    for (let i = 0; i < 120; i++)
      await memory.make(bob, { title: 'Rocket engine', content: `Rocket engine test ${i}`, scope: 'agent' })
    for (let i = 0; i < 120; i++)
      await memory.make(ada, {
        title: 'Rocket engine',
        content: `Rocket engine test ${i}`,
        confidence: 0.2,
        type: 'episodic',
      })
    const mine = await memory.make(ada, { title: 'Diary', content: 'Saw a rocket.' })
    const shared = await memory.make(bob, { title: 'Minutes', content: 'Somebody mentioned an engine.', scope: 'team' })
    const known = await memory.make(bob, { title: 'Handbook', content: 'No engine indoors.', scope: 'institutional' })
    await embedded()
    const ids = async (by: Actor, more: object) =>
      new Set((await search(by, 'rocket engine', { limit: 100, ...more })).map((one) => one.memory.id))
    for (const min_confidence of [0.9, mine.confidence])
      assert.deepEqual(await ids(ada, { min_confidence }), new Set([mine.id, shared.id, known.id]))
    assert.deepEqual(await ids(ada, { type: 'semantic' }), new Set([mine.id, shared.id, known.id]))
    assert.deepEqual(await ids(ada, { scope: 'team' }), new Set([shared.id]))
    assert.deepEqual(await ids(ada, { scope: 'institutional' }), new Set([known.id]))
    assert.deepEqual(await ids(ada, { scope: 'agent', min_confidence: 0.9 }), new Set([mine.id]))
    assert.deepEqual(await ids(cyd, {}), new Set([known.id]))
    assert.deepEqual(await ids({ token: here.admin, id: '' }, { scope: 'team' }), new Set([shared.id]))
    assert.equal((await ids({ token: here.admin, id: '' }, { type: 'episodic' })).size, 100)
    assert.deepEqual(await ids(await tenant.agent(), { min_confidence: 0.999 }), new Set(), 'another tenant')
  })

  test('[SRCH-9] a long memory is found by its beginning, its middle and its end', async () => {
    const agent = await tenant.agent()
    const filler = 'The weekly report lists meetings, numbers, rooms and the names of those who were present. '.repeat(
      40,
    )
    const long = await memory.make(agent, {
      title: 'Log',
      content: `A whale was seen near the coast. ${filler} The violin needs new strings. ${filler} Volcanic ash closed the airport.`,
    })
    for (let i = 0; i < 5; i++)
      await memory.make(agent, { title: 'Log', content: `${filler} Nothing special on day ${i}.` })
    await embedded()
    for (const question of [
      'large sea mammal',
      'repairing a musical instrument',
      'flights cancelled after an eruption',
    ]) {
      assert.equal((await search(agent, question))[0]!.memory.id, long.id, question)
    }
  })

  test('[SRCH-10] of equally relevant memories the more certain, the fresher, the more important comes first', async () => {
    const agent = await tenant.agent()
    const text = { title: 'Standup', content: 'The standup is at nine.' }
    const old = new Date(service.clock.now() - 60 * 86_400_000).toISOString()
    const best = await memory.make(agent, { ...text, importance: 1 })
    const plain = await memory.make(agent, text)
    const stale = await memory.make(agent, { ...text, freshness_date: old })
    const unsure = await memory.make(agent, { ...text, confidence: 0.3 })
    await embedded()
    const order = (await search(agent, 'when is the standup?')).map((one) => one.memory.id)
    assert.deepEqual(order, [best.id, plain.id, stale.id, unsure.id])
  })

  test('[SRCH-1] odd queries work: punctuation, quotes, very long, other scripts, and no memory at all', async () => {
    const agent = await tenant.agent()
    assert.deepEqual(await search(agent, 'anything'), [])
    const made = await memory.make(agent, { title: '東京', content: '東京タワーは赤い。' })
    for (const query of ['?!', '"quoted" OR -minus* AND (', "'; drop table memories; --", 'word '.repeat(6000), '😀']) {
      assert.ok((await search(agent, query)).length <= 1, query.slice(0, 20))
    }
    assert.equal((await search(agent, 'タワー'))[0]!.memory.id, made.id)
  })
})
