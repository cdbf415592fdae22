// Misspelt words, and times that a query names.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { askedTime } from '../../../src/memory/asked-time.ts'
import { weightNames } from '../../../src/memory/index/memory-columns.ts'
import {
  addToVocabularies,
  distance,
  isCheckedForSpelling,
  MAX_VOCABULARY,
  mostSimilarWords,
  type Vocabulary,
} from '../../../src/memory/index/spelling.ts'
import { TenantColumns } from '../../../src/memory/index/tenant-columns.ts'
import { onBothEngines } from '../../support/engines.ts'
import { agentForSuite, serviceForSuite, tenantForSuite } from '../../support/service.ts'
import { memoryCalls } from '../tools.ts'

test('[RCL-53] the most similar words differ in one letter, long ones in two; of those the commonest wins', () => {
  assert.equal(distance('pump', 'pump', 2), 0)
  assert.equal(distance('pmup', 'pump', 2), 1)
  assert.equal(distance('turbin', 'turbine', 2), 1)
  assert.equal(distance('kubernets', 'kubernetes', 2), 1)
  assert.equal(distance('valve', 'water', 2), 3)
  const words = new Map([
    ['turbin', 3],
    ['turban', 9],
    ['turbo', 50],
    ['tribune', 2],
  ])
  assert.deepEqual(mostSimilarWords('turbn', words), ['turbo', 'turban', 'turbin'])
  assert.deepEqual(mostSimilarWords('trbuine', words), [])
  assert.deepEqual(
    [
      isCheckedForSpelling('caat'),
      isCheckedForSpelling('caats'),
      isCheckedForSpelling('7pumps'),
      isCheckedForSpelling('насос'),
    ],
    [false, true, false, false],
  )
})

const wordsFrom = (first: number, many: number): string[] =>
  Array.from({ length: many }, (_, i) => `a${(first + i).toString(36).padStart(5, '0')}`)
const vocabularyOf = (many: number): Vocabulary => new Map(wordsFrom(0, many).map((word) => [word, 1]))

test('[RCL-59] a vocabulary that has grown to the limit is dropped; one that was read as large stays as it is', () => {
  const grown = vocabularyOf(MAX_VOCABULARY - 2)
  const full = vocabularyOf(MAX_VOCABULARY)
  const letters = new Map([['a', grown]])
  addToVocabularies(letters, ['a00000', 'azzzzz', 'b00000'])
  assert.deepEqual([grown.get('a00000'), grown.get('azzzzz'), grown.size], [2, 1, MAX_VOCABULARY - 1])
  addToVocabularies(letters, ['a00000'])
  assert.equal(letters.get('a'), grown, 'a word that it has needs no room')
  addToVocabularies(letters, ['azzzzy', 'azzzzx'])
  assert.deepEqual([letters.size, grown.size], [0, MAX_VOCABULARY - 1])
  letters.set('a', full)
  addToVocabularies(letters, ['a00000', 'azzzzz'])
  assert.equal(letters.get('a'), full)
  assert.deepEqual([full.get('a00000'), full.get('azzzzz'), full.size], [2, undefined, MAX_VOCABULARY])
})

test('[RCL-59] however often texts change, their vocabulary is bounded and counted, and compared in steps', () => {
  const columns = new TenantColumns(weightNames)
  columns.vocabularies.set('a', vocabularyOf(5_000))
  assert.ok(columns.bytes >= 5_000 * 50, 'it is part of what a tenant takes')
  let most = 0
  for (let round = 0; round < 20; round++) {
    addToVocabularies(columns.vocabularies, wordsFrom(round * 8_000, 8_000))
    most = Math.max(most, columns.vocabularies.get('a')?.size ?? 0)
  }
  assert.ok(most > 5_000 && most < MAX_VOCABULARY, `${most} words`)
  let yields = 0
  mostSimilarWords('azzzzqq', vocabularyOf(MAX_VOCABULARY), () => void yields++)
  assert.ok(yields >= MAX_VOCABULARY / 1_000, `${yields} steps`)
})

test('[RCL-54] the time that a query names', () => {
  const now = Date.parse('2030-06-12T15:00:00Z') // a Wednesday
  const named = (query: string): string | null => {
    const time = askedTime(query, now)
    const day = (ms: number): string => (ms === Infinity ? 'on' : new Date(ms).toISOString().slice(0, 10))
    return time && `${day(time.from)} ${day(time.to)}`
  }
  assert.equal(named('What did Ann say last May?'), '2030-05-01 2030-06-01')
  assert.equal(named('the leak last July'), '2029-07-01 2029-08-01')
  assert.equal(named('the leak in June'), '2030-06-01 2030-07-01')
  assert.equal(named('alarms since April'), '2030-04-01 on')
  assert.equal(named('alarms of March 2028'), '2028-03-01 2028-04-01')
  assert.equal(named('what happened in 2027'), '2027-01-01 2028-01-01')
  assert.equal(named('who called yesterday'), '2030-06-11 2030-06-12')
  assert.equal(named('tickets of last week'), '2030-06-03 2030-06-10')
  assert.equal(named('tickets of this month'), '2030-06-01 2030-07-01')
  assert.equal(named('Two weeks ago the pump failed'), '2030-05-26 2030-06-02')
  assert.equal(named('a couple of days ago'), '2030-06-10 2030-06-11')
  assert.equal(named('the meeting on Monday'), '2030-06-10 2030-06-11')
  assert.equal(named('the meeting last Wednesday'), '2030-06-05 2030-06-06')
  for (const none of ['may I come in', 'march on', 'how many in 20271', 'the last mayor', 'in maybe'])
    assert.equal(named(none), null, none)
})

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)
  const agent = agentForSuite(tenant)
  const calls = memoryCalls(service)

  async function search(query: string, who = agent): Promise<{ title: string; lexical: number }[]> {
    await service.app.memory.embedding.idle()
    const results = await calls.search(who, query, { explain: true })
    return results.map(({ memory: { title }, signals }) => ({ title, lexical: signals!.lexical }))
  }

  test('[RCL-53] a misspelt word finds what the most similar word finds, as soon as that word exists', async () => {
    await calls.make(agent, { title: 'Deployment', content: 'Kubernetes restarts the pods of the shop.' })
    await calls.make(agent, { title: 'Lunch', content: 'The canteen has pancakes on Fridays.' })
    assert.deepEqual((await search('kuberntes'))[0], (await search('kubernetes'))[0])
    assert.ok((await search('kuberntes'))[0]!.lexical > 0)
    // The words with this initial are cached by now: a new one is added to them.
    await calls.make(agent, { title: 'Cellar', content: 'The kerosene is in the cellar.' })
    const [first] = await search('kerosine')
    assert.deepEqual([first!.title, first!.lexical > 0], ['Cellar', true])
  })

  test('[RCL-53] a correct word is not replaced, and no word is replaced by one the caller cannot see', async () => {
    const other = await tenant.agent()
    await calls.make(other, { title: 'Cave', content: 'A stalagmite grows from the floor.' })
    await calls.make(agent, { title: 'Cooking', content: 'The pancake needs an egg.' })
    for (const query of ['stalagmites', 'stalagmtie']) {
      const found = await search(query)
      assert.ok(found.length > 0 && found.every(({ lexical }) => lexical === 0), query)
    }
    assert.equal((await search('stalagmtie', other))[0]!.title, 'Cave')
  })

  test('[RCL-54] of equally good results the one from the time that the query names comes first', async () => {
    const year = new Date(service.clock.now()).getUTCFullYear() - 1
    const text = { title: 'Visit', content: 'The inspector of the fire brigade came.' }
    for (const day of ['05-14', '07-14'])
      await calls.make(agent, { ...text, freshness_date: `${year}-${day}T12:00:00.000Z` })
    await service.app.memory.embedding.idle()
    const first = async (query: string): Promise<string> =>
      (await calls.search(agent, query))[0]!.memory.freshness_date!.slice(0, 10)
    assert.equal(await first('visit of the fire inspector'), `${year}-07-14`)
    assert.equal(await first(`visit of the fire inspector in May ${year}`), `${year}-05-14`)
    assert.equal(await first(`visit of the fire inspector in July ${year}`), `${year}-07-14`)
    // No memory is from that time, so it does not affect the order.
    assert.equal(await first(`visit of the fire inspector in July ${year - 9}`), `${year}-07-14`)
  })
})
