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
import type { FilterGroup, Match, Matching, Subscription } from '../routing/table.ts'
import type { Db } from '../store/db.ts'
import { admitAddressee, findAddressees, withAddressee } from './addressee.ts'
import { prepareEvent } from './envelope.ts'
import { shownSubscription } from './matched.ts'
import { findReasons, orderSubscriptions, reasonOfAddress } from './reasons.ts'

export interface Explanation {
  recipients: { agent_id: string; via: Matched[]; priority: number }[]
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

export async function explainEvent(
  db: Db,
  router: Router,
  caller: Principal,
  request: ExplainRequest,
  /** Feeds of channels that the caller may not see stay out of the reasons. Called often for one channel. */
  maySeeChannel: (channelId: string) => Promise<boolean>,
  pause: Pause,
): Promise<Explanation> {
  const { tenantId } = caller
  const event = prepareEvent(request.event, '')
  if (request.agent_id !== undefined) await requireAgent(db, tenantId, request.agent_id)
  await router.prepare([tenantId])
  const table = (await router.tables(db, [tenantId], false)).get(tenantId)!
  const named = (await findAddressees(db, tenantId, caller.id, [event])).get(event)
  const addressee = named && admitAddressee(table, named, caller.id)
  if (addressee instanceof Failure) throw addressee
  const { filters, overBudget } = router.matching
  const cut = new Set<FilterGroup>()
  const noteCut = (group: FilterGroup): void => {
    cut.add(group)
    overBudget(group)
  }
  const found = await inSteps(matchInSlices(table, event.envelope, { filters, overBudget: noteCut }), pause)
  const matching = addressee ? withAddressee(table, addressee, caller.id, found) : found
  const list = await inSteps(inOrder(matching), pause)
  const recipients: Explanation['recipients'] = []
  for (const match of list) {
    const via = addressed(match)
    // The response may say that a feed matches, but not which one if the caller may not see its channel.
    for (const s of match.matched)
      via.push(
        s.channelId === null || (await maySeeChannel(s.channelId)) ? shownSubscription(s) : { kind: 'feed', id: null },
      )
    recipients.push({ agent_id: match.recipientId, via, priority: match.priority })
  }
  if (request.agent_id === undefined) return { recipients }
  const reasons: Reason[] = []
  if (addressee) reasons.push(reasonOfAddress(table, addressee, caller.id, request.agent_id))
  const maySeeFilter = (s: Subscription): boolean =>
    s.kind === 'feed' ? holds(caller, 'channel:read') : s.agentId === caller.id || holds(caller, 'interests:read')
  const matched = list.find(({ recipientId }) => recipientId === request.agent_id)?.matched ?? []
  const given = { table, event, filters, maySeeFilter, matched, cut }
  for (const reason of await inSteps(findReasons(given, request.agent_id), pause)) {
    if (reason.channel_id === undefined || (await maySeeChannel(reason.channel_id))) reasons.push(reason)
  }
  if (reasons.length === 0) {
    const receives = matching.matches.has(request.agent_id)
    const explanation = receives
      ? 'a feed of a channel that you may not see matches'
      : 'no interest of the agent, and no feed that you may see, matches'
    reasons.push({ kind: 'agent', id: request.agent_id, matches: receives, explanation })
  }
  return {
    recipients,
    agent: { agent_id: request.agent_id, receives: matching.matches.has(request.agent_id), reasons },
  }
}
