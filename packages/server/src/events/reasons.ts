// Says why an agent would receive an event or not, one subscription after the other.
import type { Reason } from '@sensorium/contract'
import { sortSteps } from '../kernel/sort-steps.ts'
import { describeResult, type FilterResult } from '../routing/filter.ts'
import { EVENT_STEPS, saveForCompiling } from '../routing/evaluate.ts'
import { isShort, type Filters } from '../routing/filters.ts'
import { countSlices } from '../routing/found.ts'
import type { FilterGroup, RoutingTable, Subscription } from '../routing/table.ts'
import type { Addressee } from './addressee.ts'
import type { PreparedEvent } from './envelope.ts'
import { shownSubscription } from './matched.ts'

const MAX_REASONS = 200

/** The cost of a subscription besides the steps of its filter: its pattern is tried, and its reason written. */
const REASON_STEPS = 100

interface ToExplain {
  table: RoutingTable
  event: PreparedEvent
  filters: Filters
  maySeeFilter(subscription: Subscription): boolean
  /** The subscriptions by which the agent receives the event. They come first, in this order. */
  matched: readonly Subscription[]
  /** What the event left out, because its filters take too much work. */
  cut: ReadonlySet<FilterGroup | undefined>
}

/** Returns the subscriptions in the order in which they are listed: interests before feeds, the oldest first. */
export function* orderSubscriptions(subscriptions: readonly Subscription[]): Generator<void, Subscription[]> {
  const byId = new Map(subscriptions.map((subscription) => [subscription.id, subscription]))
  const idsOf = (kind: Subscription['kind']) => subscriptions.filter((s) => s.kind === kind).map(({ id }) => id)
  const ids = [...(yield* sortSteps(idsOf('interest'))), ...(yield* sortSteps(idsOf('feed')))]
  return ids.map((id) => byId.get(id)!)
}

/** Describes a result without revealing the filter: an error names its fields, a value may be computed from them. */
function describeHidden({ result, ...rest }: FilterResult): string {
  if (result === 'match') return 'the filter is true'
  if (result === 'error') return 'the filter gives an error'
  if (result === 'over_budget') return 'the filter takes too much work'
  return 'value' in rest && rest.value === false ? 'the filter is false' : 'the filter is not a boolean'
}

/**
 * Evaluates one filter after the other, within what one event may take. What matched is not evaluated again, so that no
 * reason contradicts it. `took` is told the steps of each.
 */
function makeEvaluate({ table, event, filters, matched }: ToExplain, took: (steps: number) => void) {
  const known = new Set(matched)
  const budget = { left: EVENT_STEPS }
  saveForCompiling(table, filters)
  let compiling = Math.max(EVENT_STEPS, table.saved)
  return (subscription: Subscription): FilterResult => {
    if (known.has(subscription)) return { result: 'match' }
    const source = subscription.filter!
    let filter = filters.cached(source)
    if (budget.left <= 0 || (!filter && compiling <= 0 && !isShort(source))) return { result: 'over_budget' }
    if (!filter) {
      filter = filters.get(source)
      took(filter.compileSteps)
      if (!isShort(source)) {
        compiling -= filter.compileSteps
        table.saved -= filter.compileSteps
      }
    }
    const before = budget.left
    const result = filter.evaluate(event.envelope, budget)
    took(before - budget.left)
    return result
  }
}

function reasonOf(
  { table, event, maySeeFilter, cut }: ToExplain,
  subscription: Subscription,
  evaluate: (subscription: Subscription) => FilterResult,
): Reason {
  const typeMatches = table.matchesType(subscription, event.type)
  const isShown = maySeeFilter(subscription)
  const base = {
    ...shownSubscription(subscription),
    kind: subscription.kind,
    id: subscription.id,
    type_matches: typeMatches,
    ...(isShown ? { filter: subscription.filter } : {}),
  }
  if (!typeMatches)
    return { ...base, matches: false, explanation: `the type ${event.type} does not match ${subscription.glob}` }
  if (subscription.filter === null)
    return { ...base, matches: true, explanation: `the type matches ${subscription.glob}` }
  const result = evaluate(subscription)
  const isCut = cut.has(table.groupOf(subscription))
  const matches = result.result === 'match' && !isCut
  const described =
    (isShown ? describeResult(result) : describeHidden(result)) +
    (isCut && result.result === 'match' ? ', but was left out: the filters of this event take too much work' : '')
  return { ...base, matches, explanation: `the type matches ${subscription.glob}; ${described}` }
}

/** Whether the event is delivered to the agent because it is addressed to it, or to one of its channels. */
export function reasonOfAddress(
  table: RoutingTable,
  { kind, id }: Addressee,
  senderId: string,
  agentId: string,
): Reason {
  const reason = (matches: boolean, explanation: string): Reason => ({ kind: 'recipient', id, matches, explanation })
  if (kind === 'agent')
    return id === agentId
      ? reason(true, 'the event is addressed to the agent')
      : reason(false, 'the event is addressed to another agent')
  if (!table.members.get(id)?.has(agentId))
    return reason(false, 'the event is addressed to a channel that the agent is not a member of')
  if (agentId === senderId) return reason(false, 'the event is addressed to a channel, and the agent is its sender')
  if (table.inactive.has(agentId))
    return reason(false, 'the event is addressed to a channel of the agent, and the agent is inactive')
  return reason(true, 'the event is addressed to a channel that the agent is a member of')
}

/**
 * Returns the ids of the subscriptions that may have to do with the agent, in lists in the order in which they are
 * explained. Those by which the agent receives the event are in the first list, and again in the others.
 */
function* toExplain(
  { table, matched }: ToExplain,
  agentId: string,
  isSliceOver: (steps: number) => boolean,
): Generator<void, string[][]> {
  const ids: Record<Subscription['kind'], string[]> = { interest: [], feed: [] }
  for (const subscription of table.subscriptions.values()) {
    if (isSliceOver(1)) yield
    if (subscription.kind === 'feed' || subscription.agentId === agentId) ids[subscription.kind].push(subscription.id)
  }
  return [matched.map(({ id }) => id), yield* sortSteps(ids.interest), yield* sortSteps(ids.feed)]
}

function* inTurn<T>(lists: readonly (readonly T[])[]): Generator<T> {
  for (const list of lists) yield* list
}

/** Finds the reasons of an agent. Yields after each slice of work: a tenant may have a million subscriptions. */
export function* findReasons(given: ToExplain, agentId: string): Generator<void, Reason[]> {
  const { table } = given
  const reasons: Reason[] = []
  if (table.inactive.has(agentId))
    reasons.push({ kind: 'agent', id: agentId, matches: false, explanation: 'the agent is inactive' })
  const isSliceOver = countSlices()
  let steps = 0
  const took = (taken: number): void => void (steps += taken)
  const evaluate = makeEvaluate(given, took)
  const explained = new Set<string>()
  for (const id of inTurn(yield* toExplain(given, agentId, isSliceOver))) {
    if (reasons.length >= MAX_REASONS) break
    if (isSliceOver(steps)) yield
    steps = REASON_STEPS
    // It may have been removed between two slices.
    const subscription = table.subscriptions.get(id)
    if (!subscription || explained.has(id)) continue
    explained.add(id)
    const reason = reasonOf(given, subscription, evaluate)
    const isMember = table.members.get(subscription.channelId!)?.has(agentId)
    if (subscription.kind === 'interest' || isMember) reasons.push(reason)
    // A feed that would have matched if the agent were a member is worth reporting; other feeds have nothing to do with
    // this event.
    else if (reason.matches) {
      const explanation = 'the feed matches, but the agent is not a member of its channel'
      reasons.push({ ...reason, matches: false, explanation })
    }
  }
  if (reasons.length === 0)
    reasons.push({
      kind: 'agent',
      id: agentId,
      matches: false,
      explanation: 'the agent has no interest, and no feed matches the event',
    })
  return reasons
}
