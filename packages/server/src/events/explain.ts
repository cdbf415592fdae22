// Explains who would receive an event, and why; for one agent, also why not. Nothing is stored.
//
// 1. It costs no more than two publishes, one for the matching and one for the reasons, and the sorting of what it
//    lists. All of it is done in slices.
// 2. Another agent's filters and results are shown to callers that may list them (`interests:read`), those of feeds to
//    callers that may list the channel's. Others learn whether a filter is true, false or fails, and nothing of its
//    text.
// 3. Nodes learn of subscriptions in different orders, and an explanation lists the same in the same order on each.
import type { Matched, Reason } from '@sensorium/contract'
import { requireAgent } from '../agents/get.ts'
import { holds, type Principal } from '../auth/principal.ts'
import { Failure } from '../kernel/failure.ts'
import { sortSteps } from '../kernel/sort-steps.ts'
import { inSteps, type Pause } from '../kernel/step-turns.ts'
import { countSlices } from '../routing/found.ts'
import { matchInSlices } from '../routing/match.ts'
import type { Router } from '../routing/router.ts'
import type { FilterGroup, Match, Matching, RoutingTable, Subscription } from '../routing/table.ts'
import type { Db } from '../store/db.ts'
import { admitAddressee, findAddressees, withAddressee, type Addressee } from './addressee.ts'
import { prepareEvent, type PreparedEvent } from './envelope.ts'
import { shownSubscription } from './matched.ts'
import { findReasons, orderSubscriptions, reasonOfAddress } from './reasons.ts'

interface Recipient {
  agent_id: string
  via: Matched[]
  priority: number
}

export interface Explanation {
  recipients: Recipient[]
  agent?: { agent_id: string; receives: boolean; reasons: Reason[] }
}

interface ExplainRequest {
  event: unknown
  agent_id?: string
}

const addressed = ({ addressedAs }: Match): Matched[] =>
  addressedAs === undefined ? [] : [{ kind: 'recipient', id: addressedAs }]

/** The cost of a subscription that is put in order, in steps of a filter. */
const ORDER_STEPS = 10

/** Returns the matches by recipient, each with its subscriptions in order. They may be shared, so they are copied. */
function* inOrder({ matches }: Matching): Generator<void, Match[]> {
  const sorted = (yield* sortSteps([...matches.keys()])).map((id) => matches.get(id)!)
  const isSliceOver = countSlices()
  for (const [i, match] of sorted.entries()) {
    if (isSliceOver(match.matched.length * ORDER_STEPS)) yield
    if (match.matched.length > 1) sorted[i] = { ...match, matched: yield* orderSubscriptions(match.matched) }
  }
  return sorted
}

/** How an event is routed, and which filters were left out on the way because they take too much work. */
interface RoutedOnce {
  event: PreparedEvent
  table: RoutingTable
  addressee: Addressee | null
  matching: Matching
  cut: ReadonlySet<FilterGroup>
}

/** Routes the event as a publish of the caller would, and stores nothing. */
async function routeOnce(
  db: Db,
  router: Router,
  { tenantId, id }: Principal,
  event: PreparedEvent,
  pause: Pause,
): Promise<RoutedOnce> {
  await router.prepare([tenantId])
  const table = (await router.tables(db, [tenantId], false)).get(tenantId)!
  const named = (await findAddressees(db, tenantId, id, [event])).get(event)
  const addressee = named ? admitAddressee(table, named, id) : null
  if (addressee instanceof Failure) throw addressee
  const cut = new Set<FilterGroup>()
  const overBudget = (group: FilterGroup): void => {
    cut.add(group)
    router.matching.overBudget(group)
  }
  const { filters } = router.matching
  const found = await inSteps(matchInSlices(table, event.envelope, { filters, overBudget }), pause)
  const matching = addressee ? withAddressee(table, addressee, id, found) : found
  return { event, table, addressee, matching, cut }
}

/** Feeds of channels that the caller may not see stay out of what is told. Called often for one channel. */
type MaySeeChannel = (channelId: string) => Promise<boolean>

async function shownRecipients(list: readonly Match[], maySeeChannel: MaySeeChannel): Promise<Recipient[]> {
  const recipients: Recipient[] = []
  for (const match of list) {
    const via = addressed(match)
    // The response may say that a feed matches, but not which one if the caller may not see its channel.
    for (const s of match.matched)
      via.push(
        s.channelId === null || (await maySeeChannel(s.channelId)) ? shownSubscription(s) : { kind: 'feed', id: null },
      )
    recipients.push({ agent_id: match.recipientId, via, priority: match.priority })
  }
  return recipients
}

/** Returns why the agent receives the event, or why not: at least one reason. */
async function shownReasons(
  { event, table, addressee, matching, cut }: RoutedOnce,
  { filters }: Router['matching'],
  caller: Principal,
  agentId: string,
  matched: readonly Subscription[],
  maySeeChannel: MaySeeChannel,
  pause: Pause,
): Promise<Reason[]> {
  const reasons: Reason[] = []
  if (addressee) reasons.push(reasonOfAddress(table, addressee, caller.id, agentId))
  const maySeeFilter = (s: Subscription): boolean =>
    s.kind === 'feed' ? holds(caller, 'channel:read') : s.agentId === caller.id || holds(caller, 'interests:read')
  const given = { table, event, filters, maySeeFilter, matched, cut }
  for (const reason of await inSteps(findReasons(given, agentId), pause)) {
    if (reason.channel_id === undefined || (await maySeeChannel(reason.channel_id))) reasons.push(reason)
  }
  if (reasons.length > 0) return reasons
  const receives = matching.matches.has(agentId)
  const explanation = receives
    ? 'a feed of a channel that you may not see matches'
    : 'no interest of the agent, and no feed that you may see, matches'
  return [{ kind: 'agent', id: agentId, matches: receives, explanation }]
}

export async function explainEvent(
  db: Db,
  router: Router,
  caller: Principal,
  { event: envelope, agent_id }: ExplainRequest,
  maySeeChannel: MaySeeChannel,
  pause: Pause,
): Promise<Explanation> {
  const event = prepareEvent(envelope, '')
  if (agent_id !== undefined) await requireAgent(db, caller.tenantId, agent_id)
  const routed = await routeOnce(db, router, caller, event, pause)
  const list = await inSteps(inOrder(routed.matching), pause)
  const recipients = await shownRecipients(list, maySeeChannel)
  if (agent_id === undefined) return { recipients }
  const matched = list.find(({ recipientId }) => recipientId === agent_id)?.matched ?? []
  const reasons = await shownReasons(routed, router.matching, caller, agent_id, matched, maySeeChannel, pause)
  return { recipients, agent: { agent_id, receives: routed.matching.matches.has(agent_id), reasons } }
}
