// What one event may take for filters is shared by those who subscribe, whatever each of them has.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { atOnce } from '../../src/kernel/step-turns.ts'
import { EVENT_STEPS } from '../../src/routing/evaluate.ts'
import { compileFilter, type Envelope } from '../../src/routing/filter.ts'
import { makeFilters } from '../../src/routing/filters.ts'
import { matchInSlices } from '../../src/routing/match.ts'
import { RoutingTable, type Subscription } from '../../src/routing/table.ts'

const LIST = Array.from({ length: 80 }, (_, i) => i)

let made = 0
const interestOf = (agentId: string, filter: string, glob = 'a.*'): Subscription => ({
  kind: 'interest',
  id: `int_${made++}`,
  agentId,
  channelId: null,
  glob,
  filter,
  priority: 0,
  enrichment: 'none',
})

const feedOf = (channelId: string, creatorId: string | null, filter: string): Subscription => ({
  ...interestOf('', filter),
  kind: 'feed',
  agentId: null,
  channelId,
  ...(creatorId === null ? {} : { payer: `feeds ${creatorId}` }),
})

/** Matches events of one table, and counts the filters that are left out. */
function matcher(table: RoutingTable, filters = makeFilters()) {
  return (event: Envelope) => {
    let cut = 0
    const { matches, steps } = atOnce(matchInSlices(table, event, { filters, overBudget: () => void cut++ }))
    return { matches, steps, cut }
  }
}

/** About 330 steps over LIST, and false. */
const small = (n: number): string => `data.list.exists(x, x == ${-1 - n})`
/** About 500 steps over LIST, and true. */
const honest = 'data.list.exists(i, i > 78 && i < 80)'
/** 400,000 steps to compile. */
const long = (n: number): string => `data.n == ${n}${' || a'.repeat(800)}`

test("[RTE-5] one agent's filters do not take what another's need, however cheap each of them is", () => {
  const table = new RoutingTable()
  table.put(interestOf('victim', honest))
  for (let i = 0; i < 6_000; i++) table.put(interestOf('greedy', small(i)))
  const match = matcher(table)
  for (let i = 0; i < 6; i++) {
    const { matches, steps, cut } = match({ type: 'a.b', data: { list: LIST } })
    assert.deepEqual([...matches.keys()], ['victim'], `event ${i}`)
    assert.ok(cut > 1_000, String(cut))
    assert.ok(i === 0 || steps < EVENT_STEPS + 6_001 * 60, String(steps))
  }
})

test('[RTE-5] a filter whose cost was low for the last event takes no more than the share of its agent', () => {
  const table = new RoutingTable()
  const liar = (n: number): string => `data.big && data.list.exists(a, data.list.exists(b, a + b == ${-1 - n}))`
  for (let i = 0; i < 300; i++) table.put(interestOf(`liar_${i % 12}`, liar(i)))
  table.put(interestOf('victim', honest))
  const match = matcher(table)
  for (const big of [false, true, true, false, true]) {
    const { matches, cut } = match({ type: 'a.b', data: { big, list: LIST } })
    assert.deepEqual([...matches.keys()], ['victim'])
    assert.equal(cut > 0, big)
  }
})

test('[RTE-5] what an agent does not use goes to the others, and a filter of several is nobody’s alone', () => {
  const table = new RoutingTable()
  for (let i = 0; i < 50; i++) table.put(interestOf(`modest_${i}`, honest.replace('78', `${78 - i}`)))
  for (let i = 0; i < 4_000; i++) table.put(interestOf('greedy', `${small(i)} || data.list.size() == 80`))
  // The same filter as that of another agent, which has spent its share on others.
  for (const agent of ['greedy', 'victim']) table.put(interestOf(agent, `${honest} && data.list.size() == 80`))
  const match = matcher(table)
  const event = { type: 'a.b', data: { list: LIST } }
  match(event)
  const { matches, cut } = match(event)
  assert.equal(matches.size, 52)
  assert.ok(matches.has('victim'))
  // 330 steps each: the greedy agent has far more than a fiftieth of the budget.
  assert.ok(matches.get('greedy')!.matched.length > 2_000, String(matches.get('greedy')!.matched.length))
  assert.ok(cut > 0)
})

test('[RTE-5] feeds take nothing of interests, and the channels of one creator count as one', () => {
  const table = new RoutingTable()
  const channels = (creator: string, count: number, filter: (i: number) => string) => {
    for (let i = 0; i < count; i++) {
      table.members.set(`${creator}_${i}`, new Set([`member_of_${creator}`]))
      table.put(feedOf(`${creator}_${i}`, creator, filter(i)))
    }
  }
  channels('greedy', 5_000, (i) => `${small(i)} && data.n == ${i}`)
  channels('honest', 1, () => `${honest} || false`)
  table.put(interestOf('honest', honest))
  table.put(interestOf('victim', `data.list.exists(a, data.list.exists(b, a + b == -1)) || true`))
  const match = matcher(table)
  for (let i = 0; i < 3; i++) {
    const { matches, cut } = match({ type: 'a.b', data: { list: LIST } })
    assert.deepEqual([...matches.keys()].sort(), ['honest', 'member_of_honest', 'victim'])
    assert.ok(cut > 1_000, String(cut))
  }
})

const RANDOM_EVENT = { type: 'a.b', data: { list: LIST, long: Array.from({ length: 900 }, (_, i) => i) } }

/** Agents with random filters, and the steps that those of each take. */
function randomAgents(random: (below: number) => number) {
  const table = new RoutingTable()
  const agents = 2 + random(12)
  const costs = new Map<string, { steps: number; compiling: number; filters: number }>()
  for (let a = 0; a < agents; a++) {
    const count = 1 + random([3, 40, 500][random(3)]!)
    const list = ['list', 'long'][random(2)]
    const more = ' || data.list.size() == 79'.repeat(random(2) * random(20))
    const cost = { steps: 0, compiling: 0, filters: count }
    for (let i = 0; i < count; i++) {
      // One in five filters is another agent's too.
      const n = random(5) === 0 ? i : 1_000 * (a + 1) + i
      const filter = compileFilter(`data.${list}.exists(x, x == ${-1 - n})${more} || ${n} >= 0`)
      table.put(interestOf(`agt_${a}`, filter.source))
      const budget = { left: 100_000 }
      filter.test(RANDOM_EVENT, budget)
      cost.steps += 100_000 - budget.left
      cost.compiling += filter.compileSteps
    }
    costs.set(`agt_${a}`, cost)
  }
  return { table, costs, share: EVENT_STEPS / agents }
}

for (const cache of [1_000_000_000, 4_000_000])
  test(`[RTE-5] [RTE-7] who takes no more than its share loses nothing, with a cache of ${cache} bytes`, () => {
    let seed = 7
    const random = (below: number): number => (seed = (seed * 48_271) % 0x7fffffff) % below
    let [modest, cuts] = [0, 0]
    for (let round = 0; round < 8; round++) {
      const { table, costs, share } = randomAgents(random)
      const match = matcher(table, makeFilters(cache))
      for (let i = 0; i < 3; i++) {
        const { matches, cut } = match(RANDOM_EVENT)
        cuts += cut
        for (const [agent, { steps, compiling, filters }] of costs) {
          // While costs are not known, half a share is certain.
          if (steps > (i === 0 ? share / 2 : share)) continue
          if (cache < 1_000_000_000 && steps + compiling > share) continue
          modest++
          assert.equal(matches.get(agent)?.matched.length, filters, `round ${round}, event ${i}, ${agent}`)
        }
      }
    }
    assert.ok(modest > 30 && cuts > 100, `${modest} ${cuts}`)
  })

test('[RTE-7] regular expressions of one agent do not keep those of another from being compiled', () => {
  const table = new RoutingTable()
  for (let i = 0; i < 60; i++) table.put(interestOf('greedy', `data.x.matches("[a-z]{300}${i}")`))
  table.put(
    interestOf('victim', 'data.name.matches("^[a-z]{2,30}-[0-9]{1,10}(north|south)$") && data.ofALongName != "x"'),
  )
  const match = matcher(table, makeFilters(4_000_000))
  for (let i = 0; i < 6; i++) {
    const { matches, cut } = match({ type: 'a.b', data: { x: '', name: 'pump-7north', ofALongName: 'y' } })
    assert.deepEqual([...matches.keys()], ['victim'], `event ${i}`)
    assert.ok(cut > 0)
  }
})

test('[RTE-7] compiling has the budget of an event, and what is saved of it', () => {
  const table = new RoutingTable()
  const filters = makeFilters(8_000_000)
  for (let i = 0; i < 60; i++) table.put(interestOf('greedy', long(i)))
  table.put(interestOf('victim', `data.n == 1${' || b'.repeat(500)}`))
  const match = matcher(table, filters)
  const event = { type: 'a.b', data: { n: 1 } }
  const first = match(event)
  assert.ok(first.steps > 7_000_000 && first.steps < 9_500_000, `${first.steps} steps for the first event`)
  for (let i = 0; i < 8; i++) {
    const { matches, steps, cut } = match(event)
    assert.ok(matches.has('victim'), `event ${i}`)
    assert.ok(cut > 0)
    // What compiling costs, and the evaluations.
    assert.ok(steps < 2.2 * EVENT_STEPS, `${steps} steps for event ${i}`)
  }
  // Events that need nothing compiled save for one that needs much.
  table.put(interestOf('other', 'data.n == 1', 'b'))
  for (let i = 0; i < 8; i++) match({ type: 'b', data: { n: 1 } })
  const saved = match(event).steps
  assert.ok(saved > 5 * EVENT_STEPS, `${saved} steps`)
})

test('[RTE-7] two events at once do not each spend what is saved', () => {
  const table = new RoutingTable()
  const filters = makeFilters(8_000_000)
  for (let i = 0; i < 60; i++) table.put(interestOf('greedy', long(i)))
  const running = Array.from({ length: 10 }, () =>
    matchInSlices(table, { type: 'a.b', data: { n: 1 } }, { filters, overBudget: () => {} }),
  )
  let steps = 0
  for (let open = running; open.length > 0; )
    open = open.filter((each) => {
      const next = each.next()
      if (next.done) steps += next.value.steps
      return !next.done
    })
  assert.ok(steps < 8_000_000 + 2.5 * 10 * EVENT_STEPS, String(steps))
})

test('[RTE-15] however many filters wait for the budget, they are put in order in steps', () => {
  const table = new RoutingTable()
  const many = 12_000
  for (let i = 0; i < many; i++)
    table.put(interestOf('a', `data.list.exists(x, x == -${i}) || ${'true && '.repeat(60)}false`))
  const filters = makeFilters()
  const matching = matchInSlices(table, { type: 'a.b', data: { list: LIST } }, { filters, overBudget: () => {} })
  const sorts: number[] = []
  const { toSorted } = Array.prototype
  Array.prototype.toSorted = function (compare) {
    sorts.push(this.length)
    return toSorted.call(this, compare)
  }
  try {
    atOnce(matching)
  } finally {
    Array.prototype.toSorted = toSorted
  }
  assert.ok(sorts.length >= many / 1_000 && Math.max(...sorts) <= 1_000, String(sorts))
})

test('[RTE-5] a filter whose last subscription goes while the event is read reaches nobody', () => {
  const table = new RoutingTable()
  const going = interestOf('going', long(1))
  table.put(going)
  for (let i = 0; i < 12; i++) table.put(interestOf(`agent_${i}`, long(2 + i)))
  const event: Envelope = { type: 'a.b', data: { n: 3 } }
  function* whole(): Generator<void, Envelope> {
    yield
    table.remove(going.id)
    return event
  }
  const tools = { filters: makeFilters(), overBudget: () => {} }
  const { matches } = atOnce(matchInSlices(table, event, tools, whole))
  assert.deepEqual([...matches.keys()], ['agent_1'])
})
