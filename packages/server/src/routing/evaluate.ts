// Evaluates the filters that an event meets, within a budget.
//
// 1. An event has EVENT_STEPS for the filters that are evaluated for it, and as many for those that must be compiled.
//    Cheap filters are evaluated first and do not use the budget, and short ones are compiled without it.
// 2. Where the budget may not do for all, payers share it: an agent pays for its interests, the creator of a channel
//    for its feeds. Half of the budget is divided equally, and nobody else can take a payer's part of it, whatever the
//    filters of others turn out to cost. The rest goes to who will have taken least. So a payer whose filters cost no
//    more than an equal share loses none, and what it leaves goes to the others. (Rejected: the cheapest filters of all
//    payers first. Thousands that each cost a little less than an honest one took everything.)
// 3. What is left out counts as no match, and is reported.
// 4. The cost of a filter is known from the last event. It orders the work, but what is charged is what a filter takes.
//    One that turns out not to be cheap is stopped and evaluated later.
// 5. What events do not use for compiling is saved for later ones, up to what fills the cache: after a start all
//    filters are new. Filters that together exceed the cache are compiled again and again, within the budget.
import { STEP_BUDGET } from '@sensorium/cel'
import { sortSteps } from '../kernel/sort-steps.ts'
import type { Envelope, Filter } from './filter.ts'
import { isShort, type Filters } from './filters.ts'
import { collect, type Found } from './found.ts'
import type { FilterGroup, RoutingTable, Subscription } from './table.ts'

/** The most steps of all filters together for one event: about ten milliseconds. */
export const EVENT_STEPS = 10 * STEP_BUDGET
/** The steps that every filter may take. Nearly all filters need less, and those are never skipped. */
const CHEAP_STEPS = 200
/** What is divided equally. If costs are not known yet, it may be spent in vain; the other half is not. */
const DIVIDED = 0.5
/** The fixed cost of an evaluation besides its steps. */
const EVALUATION_STEPS = 20
/** Compiling a filter without a regular expression takes about as many steps for each character. */
const COMPILE_STEPS_PER_CHARACTER = 100
/** What is kept of the cost of a filter that was left out: it may be cheaper for later events, and is tried again. */
const FORGETTING = 0.9

export interface MatchTools {
  filters: Filters
  /** Called for each filter that is skipped because it takes too much work. */
  overBudget(group: FilterGroup): void
}

/** What may be taken for evaluating and for compiling. */
interface Purse {
  steps: number
  compiling: number
  /** The part of `compiling` that may be taken even if other events have spent what was saved. */
  certain: number
}

interface Waiting {
  readonly group: FilterGroup
  price: number
  payers: readonly string[]
}

const payerOf = ({ payer, agentId, channelId }: Subscription): string => payer ?? agentId ?? channelId!
const compilingOf = ({ filter, compiling }: FilterGroup): number =>
  compiling || filter!.length * COMPILE_STEPS_PER_CHARACTER
const byPrice = (a: Waiting, b: Waiting): number => a.price - b.price

class Evaluation {
  readonly #table: RoutingTable
  readonly #event: Envelope
  readonly #tools: MatchTools
  readonly #found: Found
  /** Whether the last evaluation ended a slice of work. */
  isSliceOver = false

  constructor(table: RoutingTable, event: Envelope, tools: MatchTools, found: Found) {
    this.#table = table
    this.#event = event
    this.#tools = tools
    this.#found = found
  }

  /** Adds the recipients of a group whose filter is true. Returns the steps that this took, and null if too few. */
  test(group: FilterGroup, filter: Filter, granted: number): number | null {
    const budget = { left: granted }
    const passed = filter.test(this.#event, budget)
    const steps = granted - budget.left
    group.cost = passed === null ? Math.max(group.cost, granted + 1) : steps
    const added = passed === true ? collect(this.#table, group, this.#found.matches) : 0
    this.isSliceOver = this.#found.took(EVALUATION_STEPS + steps + added)
    return passed === null ? null : steps
  }

  /** What a group will probably take, compiled or not: also of short filters those come first that are compiled. */
  #price(group: FilterGroup): number {
    return group.cost + (this.#tools.filters.has(group.filter!) ? 0 : compilingOf(group))
  }

  /** Whether compiling the filter takes some of the budget. */
  paysForCompiling({ filter }: FilterGroup): boolean {
    return !this.#tools.filters.has(filter!) && !isShort(filter!)
  }

  *waiting(groups: readonly FilterGroup[]): Generator<void, Waiting[]> {
    const waiting: Waiting[] = []
    for (const group of groups) {
      if (this.#found.took(1)) yield
      waiting.push({ group, price: this.#price(group), payers: [] })
    }
    return waiting
  }

  /** Decides a group within what the purse has. Returns false if that does not do. */
  *settle(group: FilterGroup, purse: Purse): Generator<void, boolean> {
    const { filters } = this.#tools
    // A try that is known to be in vain would take what others could use.
    const isInVain = () => group.cost > CHEAP_STEPS && Math.min(group.cost, STEP_BUDGET) > purse.steps
    if (isInVain()) return false
    let filter = filters.cached(group.filter!)
    if (!filter) {
      const isPaid = this.paysForCompiling(group)
      const affordable = Math.min(purse.compiling, Math.max(purse.certain, this.#table.saved))
      if (isPaid && compilingOf(group) > affordable) return false
      filter = filters.get(group.filter!)
      group.compiling = filter.compileSteps
      if (isPaid) {
        purse.compiling -= group.compiling
        purse.certain -= group.compiling
        this.#table.saved -= group.compiling
      }
      if (this.#found.took(group.compiling)) yield
    }
    if (group.cost <= CHEAP_STEPS) {
      const isDecided = this.test(group, filter, CHEAP_STEPS) !== null
      if (this.isSliceOver) yield
      if (isDecided) return true
    }
    if (isInVain()) return false
    const granted = Math.min(STEP_BUDGET, purse.steps)
    const steps = this.test(group, filter, granted)
    purse.steps -= steps ?? granted
    if (this.isSliceOver) yield
    if (steps === null && granted < STEP_BUDGET) return false
    if (steps === null) this.#tools.overBudget(group)
    return true
  }

  /** Settles what the payers can pay out of their shares, and leaves the rest in the pool. Returns the others. */
  *share(waiting: readonly Waiting[], pool: Purse): Generator<void, Waiting[]> {
    const shares = new Map<string, Purse>()
    for (const each of waiting) {
      const { subscriptions } = each.group
      if (this.#found.took(subscriptions.size)) yield
      // The table may have changed between two slices: a group without subscriptions reaches nobody.
      each.payers = [...new Set(Array.from(subscriptions.values(), payerOf))]
      for (const payer of each.payers) shares.set(payer, { steps: 0, compiling: 0, certain: 0 })
    }
    const part = DIVIDED / shares.size
    const toCompile = Math.max(EVENT_STEPS, this.#table.saved)
    for (const purse of shares.values()) {
      purse.steps = purse.certain = Math.floor(EVENT_STEPS * part)
      purse.compiling = toCompile * part
    }
    const rest: Waiting[] = []
    for (const each of waiting) {
      let isSettled = false
      for (const payer of each.payers) {
        if (this.#found.took(1)) yield
        const purse = shares.get(payer)!
        const { steps } = purse
        isSettled = yield* this.settle(each.group, purse)
        pool.steps -= steps - purse.steps
        if (isSettled) break
      }
      if (!isSettled && each.payers.length > 0) rest.push(each)
    }
    return yield* this.#leastTakenFirst(rest, shares, toCompile)
  }

  /**
   * Orders filters by the part of a budget that their payers will have taken with each: of the budget of which it is
   * more. Of several payers it is the one with the least.
   */
  *#leastTakenFirst(
    waiting: readonly Waiting[],
    shares: ReadonlyMap<string, Purse>,
    toCompile: number,
  ): Generator<void, Waiting[]> {
    const taken = ({ steps, compiling }: Purse): number => -Math.min(steps / EVENT_STEPS, compiling / toCompile)
    for (const each of waiting) each.price = this.#price(each.group)
    const cheapestFirst = yield* sortSteps(waiting, byPrice)
    for (const each of cheapestFirst) {
      if (this.#found.took(each.payers.length)) yield
      const purses = each.payers.map((payer) => shares.get(payer)!)
      const least = purses.reduce((a, b) => (taken(b) < taken(a) ? b : a))
      least.steps -= each.group.cost
      if (this.paysForCompiling(each.group)) least.compiling -= compilingOf(each.group)
      each.price = taken(least)
    }
    return yield* sortSteps(cheapestFirst, byPrice)
  }
}

/** Adds what an event may take for compiling to what is saved. What it compiles is to be subtracted. */
export function saveForCompiling(table: RoutingTable, { maxBytes }: Filters): void {
  table.saved = Math.min(table.saved + EVENT_STEPS, maxBytes)
}

/** Adds the recipients of the groups whose filters pass. */
export function* evaluateInSlices(
  table: RoutingTable,
  groups: readonly FilterGroup[],
  event: Envelope,
  tools: MatchTools,
  found: Found,
): Generator<void, void> {
  const { filters } = tools
  const evaluation = new Evaluation(table, event, tools, found)
  saveForCompiling(table, filters)
  const others: FilterGroup[] = []
  for (const group of groups) {
    const filter = group.cost <= CHEAP_STEPS ? filters.cached(group.filter!) : undefined
    if (!filter || evaluation.test(group, filter, CHEAP_STEPS) === null) others.push(group)
    if (filter && evaluation.isSliceOver) yield
  }
  if (others.length === 0) return
  let waiting = yield* sortSteps(yield* evaluation.waiting(others), byPrice)
  const pool: Purse = { steps: EVENT_STEPS, compiling: Infinity, certain: 0 }
  const doesForAll = others.length * STEP_BUDGET <= EVENT_STEPS
  if (!doesForAll || others.some((group) => evaluation.paysForCompiling(group)))
    waiting = yield* evaluation.share(waiting, pool)
  for (const { group } of waiting) {
    if (yield* evaluation.settle(group, pool)) continue
    if (group.cost > CHEAP_STEPS) group.cost = Math.max(CHEAP_STEPS + 1, group.cost * FORGETTING)
    tools.overBudget(group)
  }
}
