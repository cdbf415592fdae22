// Contradicted memories: a memory that another one contradicts ranks below it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Memory } from '@sensorium/contract'
import { lowerRanks } from '../../../src/memory/index/contradict.ts'
import type { Ranked } from '../../../src/memory/rank.ts'
import { onBothEngines } from '../../support/engines.ts'
import { agentForSuite, serviceForSuite, tenantForSuite } from '../../support/service.ts'
import { memoryCalls } from '../tools.ts'

/** What was said first, what contradicts it, and a question about it. */
const FACTS: readonly (readonly [was: string, is: string, question: string])[] = [
  [
    'Invoices of Norway are paid within thirty days.',
    'Norway pays its invoices within ten days since May.',
    'when are invoices of Norway paid?',
  ],
  [
    'The coolant of pump 7 is changed every spring.',
    'Pump 7 has a sealed circuit now; its coolant is never changed.',
    'when is the coolant of pump 7 changed?',
  ],
  ['Anna leads the billing team.', 'Bert took over from Anna at the head of billing.', 'who leads the billing team?'],
  [
    'The staging server runs PostgreSQL 14.',
    'Staging was moved to PostgreSQL 16.',
    'which PostgreSQL does the staging server run?',
  ],
  [
    'Deploys on Friday are forbidden.',
    'Since the rollback is automatic, deploys are allowed on Friday too.',
    'are deploys on Friday forbidden?',
  ],
  [
    'The office in Lyon opens at nine.',
    'Lyon opens its office at eight from now on.',
    'when does the office in Lyon open?',
  ],
  [
    'Customer Meyer wants letters on paper.',
    'Meyer asked for mails instead of paper.',
    'how does customer Meyer want letters?',
  ],
  [
    'The backup of the archive runs at two in the night.',
    'The archive is backed up at four, after the import.',
    'when does the backup of the archive run?',
  ],
  [
    'Tickets of priority one are answered within an hour.',
    'Priority one means fifteen minutes since the new contract.',
    'how fast are tickets of priority one answered?',
  ],
  [
    'The door code of the warehouse is on the blue card.',
    'The warehouse has badges; the blue card is void.',
    'where is the door code of the warehouse?',
  ],
  ['Valve 12 opens to the left.', 'After the repair valve 12 opens to the right.', 'which way does valve 12 open?'],
  [
    'The translation service takes forty languages.',
    'The translation service was cut down to twelve languages.',
    'how many languages does the translation service take?',
  ],
]

test('[RCL-30] a memory ranks below one that contradicts it, by strength, if both fit the question', () => {
  const signals = { similarity: 0.5, lexical: 0.5, confidence: 1, recency: 1, importance: 0.5 }
  const found: Ranked[] = [
    { id: 'a', relevance: 0.8, signals },
    { id: 'b', relevance: 0.7, signals },
    { id: 'c', relevance: 0.6, signals },
    { id: 'd', relevance: 0.2, signals },
  ]
  const after = (...contradictions: [source: string, target: string, strength: number][]) =>
    lowerRanks(
      found,
      contradictions.map(([source, target, strength]) => ({ source, target, strength })),
    )
  const order = (ranked: readonly Ranked[]) => ranked.map(({ id }) => id).join('')
  assert.deepEqual(after(), found)
  const all = after(['c', 'a', 1])
  assert.equal(order(all), 'bcad')
  assert.ok(Math.abs(all[2]!.relevance - 0.57) < 1e-9)
  assert.deepEqual(all[2]!.signals, { ...signals, contradicted: 1 })
  // With strength 0.5 it is lowered half of the way.
  assert.ok(Math.abs(after(['c', 'a', 0.5]).find(({ id }) => id === 'a')!.relevance - 0.685) < 1e-9)
  // A memory far from the question lowers nothing, nor do two that contradict each other, nor one that was not found.
  for (const unmoved of [after(['d', 'a', 1]), after(['a', 'b', 1], ['b', 'a', 1]), after(['x', 'a', 1])])
    assert.deepEqual(unmoved, found)
  // A memory that ranks below it anyway is marked, and hardly moves.
  assert.equal(order(after(['a', 'c', 1])), 'abcd')
})

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const agent = agentForSuite(tenantForSuite(service))
  const calls = memoryCalls(service)

  test('[RCL-30] the newer fact comes first once it contradicts the older one', async () => {
    const pairs: { older: Memory; newer: Memory; question: string }[] = []
    for (const [was, is, question] of FACTS) {
      const older = await calls.make(agent, { title: was.split(' ').slice(0, 4).join(' '), content: was })
      const newer = await calls.make(agent, { title: is.split(' ').slice(0, 4).join(' '), content: is })
      pairs.push({ older, newer, question })
    }
    await service.app.memory.embedding.idle()
    const places = async (explain = false) => {
      const found = []
      for (const { older, newer, question } of pairs) {
        const results = await calls.search(agent, question, { limit: 24, explain })
        const place = (id: string) => results.findIndex(({ memory }) => memory.id === id)
        found.push({ older: place(older.id), newer: place(newer.id), results })
      }
      return found
    }
    const before = await places()
    const inOrder = (all: typeof before) => all.filter(({ older, newer }) => newer < older).length
    assert.ok(inOrder(before) <= FACTS.length / 2, `${inOrder(before)} are in order by themselves`)
    for (const { older, newer } of pairs)
      assert.equal((await calls.relate(agent, newer.id, older.id, { relationship_type: 'contradicts' })).status, 201)
    const after = await places(true)
    assert.equal(inOrder(after), FACTS.length, JSON.stringify(after.map(({ older, newer }) => [older, newer])))
    // The newer fact takes the first place, and the signal is shown.
    assert.ok(after.every(({ newer }) => newer === 0))
    for (const { older, results } of after) {
      assert.equal(results[older]!.signals!.contradicted, 1)
      assert.ok(results.every(({ score }, i) => i === 0 || score <= results[i - 1]!.score))
    }
    // If only one of the two is found, nothing is lowered.
    const [only] = await calls.search(agent, FACTS[0]![2], { limit: 1, explain: true })
    assert.equal('contradicted' in only!.signals!, false)
  })
})
