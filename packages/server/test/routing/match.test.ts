// An event has one budget for all filters that it meets, and compiled filters share a bounded cache.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeFilters } from '../../src/routing/filters.ts'
import { EVENT_STEPS, matchAtOnce, matchInSlices } from '../../src/routing/match.ts'
import { RoutingTable } from '../../src/routing/table.ts'

const LIST = Array.from({ length: 80 }, (_, i) => i)
/** Some forty thousand steps over LIST. */
const costly = (n: number): string =>
  `data.list.exists(a, data.list.exists(b, a + b == ${-1 - n}) && a > 10) || ${n} == 0`
/** Eight large regular expressions. */
const heavy = (n: number): string =>
  Array.from({ length: 8 }, (_, i) => `data.text.matches("(?i)[a-z]{1,60}[0-9]{1,60}x${n}y${i}$")`).join(' || ')

function tableOf(filters: readonly (string | null)[]): RoutingTable {
  const table = new RoutingTable()
  filters.forEach((filter, i) =>
    table.put({
      kind: 'interest',
      id: `int_${i}`,
      agentId: `agt_${i}`,
      channelId: null,
      glob: 'a.*',
      filter,
      priority: 0,
      enrichment: 'none',
    }),
  )
  return table
}

test('[RTE-5] filters of one event share a budget, and the costliest are left out and counted', () => {
  const honest = Array.from({ length: 50 }, (_, i) => `data.n > ${-1 - i}`)
  // The cheap filters come last, where they would be starved.
  const table = tableOf([...Array.from({ length: 400 }, (_, i) => costly(i)), ...honest, null])
  let cut = 0
  const tools = { filters: makeFilters(), overBudget: () => void cut++ }
  for (let round = 0; round < 3; round++) {
    cut = 0
    const { matches, steps } = matchAtOnce(table, { type: 'a.b', data: { n: 1, list: LIST } }, tools)
    for (let i = 400; i < 451; i++) assert.ok(matches.has(`agt_${i}`), `the cheap filter ${i} was starved`)
    assert.ok(cut > 0 && cut < 400, String(cut))
    // Each filter has a small free allowance, and in the first round compiling is added.
    assert.ok(round === 0 || steps < EVENT_STEPS + 451 * 300, String(steps))
  }
  // Another event is cheap: nothing is left out.
  cut = 0
  assert.equal(matchAtOnce(table, { type: 'a.b', data: { n: 1, list: [] } }, tools).matches.size, 52)
  assert.equal(cut, 0)
})

test('[RTE-5] a filter also has its own budget, alone or with others', () => {
  let cut = 0
  const tools = { filters: makeFilters(), overBudget: () => void cut++ }
  const endless = 'data.list.exists(a, data.list.exists(b, data.list.exists(c, a + b + c == -1)))'
  const table = tableOf([endless, 'data.list.size() == 80'])
  const { matches } = matchAtOnce(table, { type: 'a.b', data: { list: LIST } }, tools)
  assert.deepEqual([...matches.keys()], ['agt_1'])
  assert.equal(cut, 1)
})

test('[RTE-6] matching runs in slices of 20,000 steps or one costly filter, so that other work gets turns', () => {
  const table = tableOf(Array.from({ length: 400 }, (_, i) => costly(i)))
  const tools = { filters: makeFilters(), overBudget: () => {} }
  const event = { type: 'a.b', data: { list: LIST } }
  matchAtOnce(table, event, tools)
  let slices = 0
  let steps = 0
  for (const running = matchInSlices(table, event, tools); ; slices++) {
    const next = running.next()
    if (!next.done) continue
    steps = next.value.steps
    break
  }
  // A filter takes some forty thousand steps, so two of them never share a slice.
  assert.ok(slices >= steps / 60_000, `${slices} slices of ${steps} steps`)
})

test('[RTE-7] compiled filters are bounded in bytes: the least recently used is evicted', () => {
  const filters = makeFilters(1_000_000)
  const kept = filters.get('data.n > 1')
  for (let i = 0; i < 40; i++) {
    filters.get(heavy(i))
    assert.equal(filters.get('data.n > 1'), kept, 'what is used stays')
    assert.ok(filters.bytes <= filters.maxBytes || i === 0, String(filters.bytes))
  }
  assert.ok(!filters.has(heavy(0)))
  assert.ok(filters.has(heavy(39)))
  assert.equal(filters.get('this is (no filter').test({ type: 'x' }), false)
})

test('[RTE-7] a table compiles nothing, and one event fills only a part of the cache', () => {
  const filters = makeFilters(4_000_000)
  const table = tableOf([...Array.from({ length: 60 }, (_, i) => heavy(i)), 'data.text == "x"'])
  assert.equal(filters.bytes, 0)
  let cut = 0
  const { matches } = matchAtOnce(
    table,
    { type: 'a.b', data: { text: 'x' } },
    { filters, overBudget: () => void cut++ },
  )
  assert.deepEqual([...matches.keys()], ['agt_60'])
  assert.ok(filters.bytes > 0 && filters.bytes < 2_500_000, String(filters.bytes))
  assert.ok(cut > 0)
})
