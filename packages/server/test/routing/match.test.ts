// An event has one budget for all filters that it meets, and compiled filters share a bounded cache.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import v8 from 'node:v8'
import vm from 'node:vm'
import { atOnce } from '../../src/kernel/step-turns.ts'
import { EVENT_STEPS } from '../../src/routing/evaluate.ts'
import { makeFilters } from '../../src/routing/filters.ts'
import { matchInSlices } from '../../src/routing/match.ts'
import { RoutingTable, type Subscription } from '../../src/routing/table.ts'

const matchAtOnce = (...given: Parameters<typeof matchInSlices>) => atOnce(matchInSlices(...given))

const LIST = Array.from({ length: 80 }, (_, i) => i)
/** Some forty thousand steps over LIST. */
const costly = (n: number): string =>
  `data.list.exists(a, data.list.exists(b, a + b == ${-1 - n}) && a > 10) || ${n} == 0`
/** Eight large regular expressions. */
const heavy = (n: number): string =>
  Array.from({ length: 8 }, (_, i) => `data.text.matches("(?i)[a-z]{1,60}[0-9]{1,60}x${n}y${i}$")`).join(' || ')

const withPattern = (glob: string, i: number | string): Subscription => ({
  kind: 'interest',
  id: `int_${i}`,
  agentId: `agt_${i}`,
  channelId: null,
  glob,
  filter: null,
  priority: 0,
  enrichment: 'none',
})

/** 5,000 patterns that have to be tried one by one, each with a rare character. */
function tableOfPatterns(): RoutingTable {
  const table = new RoutingTable()
  for (let i = 0; i < 5_000; i++) table.put(withPattern(`*?${String.fromCodePoint(0x20000 + i)}*`, i))
  return table
}

/** 255 characters that no pattern has been tried on. */
const newType = (n: number): string =>
  String.fromCodePoint(...Array.from({ length: 255 }, (_, i) => 0x4e00 + 255 * n + i))

/** The memory of this process that is in use. */
function liveBytes(): number {
  v8.setFlagsFromString('--expose-gc')
  const collect = vm.runInNewContext('gc') as () => void
  collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

function tableOf(filters: readonly (string | null)[]): RoutingTable {
  const table = new RoutingTable()
  filters.forEach((filter, i) => table.put({ ...withPattern('a.*', i), filter }))
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

test('[RTE-5] cheap filters use up no budget, however many there are', () => {
  const many = 8_000
  const table = tableOf(Array.from({ length: many }, (_, i) => `data.list.exists(a, a == ${-1 - i}) || data.n == 1`))
  let cut = 0
  const tools = { filters: makeFilters(), overBudget: () => void cut++ }
  const event = { type: 'a.b', data: { n: 1, list: LIST.slice(0, 40) } }
  matchAtOnce(table, event, tools)
  const { matches, steps } = matchAtOnce(table, event, tools)
  assert.deepEqual([matches.size, cut], [many, 0])
  // Without what each evaluation and each recipient costs besides.
  assert.ok(steps - 30 * many > EVENT_STEPS, String(steps))
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

test('[RTE-6] patterns are tried in slices of 20,000 steps, and none is left out', () => {
  const table = tableOfPatterns()
  table.put(withPattern('*丂*', 'last'))
  const tools = { filters: makeFilters(), overBudget: () => assert.fail() }
  const running = matchInSlices(table, { type: newType(0) }, tools)
  let slices = 0
  let next = running.next()
  for (; !next.done; next = running.next()) slices++
  assert.deepEqual([...next.value.matches.keys()], ['agt_last'])
  assert.ok(next.value.steps >= 5_000 && slices >= Math.floor(next.value.steps / 21_000), `${slices} slices`)
  assert.ok(slices > 1)
})

test('[RTE-17] what a table remembers is bounded by its recipients, not only by its types', () => {
  const tools = { filters: makeFilters(), overBudget: () => {} }
  /** Matches a thousand types with this many recipients each, and returns for how many the recipients are known. */
  function remembered(recipients: number): number {
    const table = tableOf(Array(recipients).fill(null))
    const types = Array.from({ length: 1_000 }, (_, i) => `a.${i}`)
    for (const type of types) {
      const { list } = matchAtOnce(table, { type }, tools)
      assert.equal(list.length, recipients)
      assert.equal(table.remembered(type)?.list, list, 'the last one is remembered')
    }
    return types.filter((type) => table.remembered(type)).length
  }
  assert.equal(remembered(50), 1_000)
  const kept = remembered(900)
  assert.ok(kept > 0 && kept * 900 <= 50_000, `${kept * 900} recipients`)
})

test('[RTE-6] recipients that were found while the table changed are not remembered', () => {
  const table = tableOfPatterns()
  const tools = { filters: makeFilters(), overBudget: () => {} }
  const event = { type: newType(0) }
  const running = matchInSlices(table, event, tools)
  assert.equal(running.next().done, false)
  table.put(withPattern(event.type, 'new'))
  table.stamp = 'changed'
  // Another event of the type asks for what is remembered, and does not end before the first.
  const other = matchInSlices(table, event, tools)
  other.next()
  for (let next = running.next(); !next.done; ) next = running.next()
  assert.deepEqual([...matchAtOnce(table, event, tools).matches.keys()], ['agt_new'])
})

test('[RTE-6] patterns keep nothing of the types that they were tried on', () => {
  const table = tableOfPatterns()
  const before = liveBytes()
  matchAtOnce(table, { type: newType(0) }, { filters: makeFilters(), overBudget: () => {} })
  const kept = liveBytes() - before
  assert.ok(kept < 2_000_000, `${kept} bytes`)
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

test('[RTE-7] a table compiles nothing, and one event no more than the cache holds', () => {
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
  assert.ok(filters.bytes > 0 && filters.bytes <= filters.maxBytes, String(filters.bytes))
  assert.ok(cut > 0)
})

test('[RTE-7] one event compiles as many long filters as the cache holds, and every short one', () => {
  const filters = makeFilters(2_000_000)
  const long = Array.from({ length: 40 }, (_, i) => `data.n == ${i} || data.n == 1${' || a'.repeat(600)}`)
  const short = Array.from({ length: 1_000 }, (_, i) => `data.n == 1 || data.n == ${-i}`)
  const table = tableOf([...long, ...short])
  let cut = 0
  const tools = { filters, overBudget: () => void cut++ }
  for (let round = 0; round < 3; round++) {
    cut = 0
    const { matches } = matchAtOnce(table, { type: 'a.b', data: { n: 1 } }, tools)
    for (let i = 40; i < 1_040; i++) assert.ok(matches.has(`agt_${i}`), `the short filter ${i} was starved`)
    assert.equal(matches.size, 1_040 - cut)
    // Of 300 KB each, the first event compiles as many as the cache holds, which is six, and the others three each.
    assert.ok(cut >= 40 - 14 && cut <= 40 - (round === 0 ? 6 : 3), String(cut))
  }
})
