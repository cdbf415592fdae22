// Explains who would receive an event, and why; for one agent, also why not. Nothing is stored.
//
// 1. It costs no more than a publish: one budget for the matching, and one for the reasons.
// 2. Another agent's filters and results are shown to callers that may list them (`interests:read`), those of feeds to
//    callers that may list the channel's. Others learn whether a filter is true, false or fails, and nothing of its
//    text.
import type { Matched, Reason } from '@sensorium/contract'
import { requireAgent } from '../agents/get.ts'
import { holds, type Principal } from '../auth/principal.ts'
import { describeResult, type FilterResult } from '../routing/filter.ts'
import { compileGlob } from '../routing/glob.ts'
import { EVENT_STEPS, matchAtOnce } from '../routing/match.ts'
import type { Router } from '../routing/router.ts'
import type { Match, RoutingTable, Subscription } from '../routing/table.ts'
import type { Db } from '../store/db.ts'
import { findAddressees, refuseAddressee, withAddressee, type Addressee } from './addressee.ts'
import { prepareEvent, type PreparedEvent } from './envelope.ts'
import { shownSubscription } from './matched.ts'

export interface Explanation {
  recipients: { agent_id: string; via: Matched[]; priority: number }[]
  agent?: { agent_id: string; receives: boolean; reasons: Reason[] }
}

export interface ExplainRequest {
  event: unknown
  agent_id?: string
}

const MAX_REASONS = 200

const addressed = ({ addressedAs }: Match): Matched[] =>
  addressedAs === undefined ? [] : [{ kind: 'recipient', id: addressedAs }]

/** Describes a result without revealing the filter: an error names its fields, a value may be computed from them. */
function describeHidden({ result, ...rest }: FilterResult): string {
  if (result === 'match') return 'the filter is true'
  if (result === 'error') return 'the filter gives an error'
  if (result === 'over_budget') return 'the filter takes too much work'
  return 'value' in rest && rest.value === false ? 'the filter is false' : 'the filter is not a boolean'
}

/** Explains one subscription after the other, within one budget for all of them. */
function makeReasons(event: PreparedEvent, { matching }: Router, maySeeFilter: (s: Subscription) => boolean) {
  const budget = { left: EVENT_STEPS }
  return (subscription: Subscription): Reason => {
    const typeMatches = compileGlob(subscription.glob).matches(event.type)
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
    const result = matching.filters.get(subscription.filter).evaluate(event.envelope, budget)
    const matches = result.result === 'match'
    const described = isShown ? describeResult(result) : describeHidden(result)
    return { ...base, matches, explanation: `the type matches ${subscription.glob}; ${described}` }
  }
}

/** Whether the event is delivered to the agent because it is addressed to it, or to one of its channels. */
function reasonOfAddress(table: RoutingTable, { kind, id }: Addressee, senderId: string, agentId: string): Reason {
  const reason = (matches: boolean, explanation: string): Reason => ({ kind: 'recipient', id, matches, explanation })
  if (kind === 'agent')
    return id === agentId
      ? reason(true, 'the event is addressed to the agent')
      : reason(false, 'the event is addressed to another agent')
  if (!table.members.get(id)?.includes(agentId))
    return reason(false, 'the event is addressed to a channel that the agent is not a member of')
  if (agentId === senderId) return reason(false, 'the event is addressed to a channel, and the agent is its sender')
  if (table.inactive.has(agentId))
    return reason(false, 'the event is addressed to a channel of the agent, and the agent is inactive')
  return reason(true, 'the event is addressed to a channel that the agent is a member of')
}

function reasonsFor(table: RoutingTable, agentId: string, reasonOf: (subscription: Subscription) => Reason): Reason[] {
  const reasons: Reason[] = []
  if (table.inactive.has(agentId))
    reasons.push({ kind: 'agent', id: agentId, matches: false, explanation: 'the agent is inactive' })
  for (const subscription of table.subscriptions.values()) {
    if (reasons.length >= MAX_REASONS) break
    if (subscription.kind === 'interest') {
      if (subscription.agentId === agentId) reasons.push(reasonOf(subscription))
    } else if (table.members.get(subscription.channelId!)?.includes(agentId)) reasons.push(reasonOf(subscription))
    else {
      const reason = reasonOf(subscription)
      // A feed that would have matched if the agent were a member is worth reporting; other feeds have nothing to do
      // with this event.
      if (reason.matches)
        reasons.push({
          ...reason,
          matches: false,
          explanation: 'the feed matches, but the agent is not a member of its channel',
        })
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

export async function explainEvent(
  db: Db,
  router: Router,
  caller: Principal,
  request: ExplainRequest,
  /** Feeds of channels that the caller may not see stay out of the reasons. */
  maySeeChannel: (channelId: string) => Promise<boolean>,
): Promise<Explanation> {
  const { tenantId } = caller
  const event = prepareEvent(request.event, '')
  if (request.agent_id !== undefined) await requireAgent(db, tenantId, request.agent_id)
  await router.prepare([tenantId])
  const table = (await router.tables(db, [tenantId])).get(tenantId)!
  const addressee = (await findAddressees(db, tenantId, caller.id, [event])).get(event)
  const refused = addressee ? refuseAddressee(table, addressee, caller.id) : null
  if (refused) throw refused
  const found = matchAtOnce(table, event.envelope, router.matching)
  const { list, matches } = addressee ? withAddressee(table, addressee as Addressee, caller.id, found) : found
  const seen = new Map<string, boolean>()
  for (const { matched } of list) {
    for (const { channelId } of matched)
      if (channelId !== null && !seen.has(channelId)) seen.set(channelId, await maySeeChannel(channelId))
  }
  // The response may say that a feed matches, but not which one if the caller may not see its channel.
  const via = (s: Subscription): Matched =>
    s.channelId === null || seen.get(s.channelId) ? shownSubscription(s) : { kind: 'feed', id: null }
  const recipients = list.map((match) => ({
    agent_id: match.recipientId,
    via: [...addressed(match), ...match.matched.map(via)],
    priority: match.priority,
  }))
  if (request.agent_id === undefined) return { recipients }
  const reasons: Reason[] = []
  if (addressee) reasons.push(reasonOfAddress(table, addressee as Addressee, caller.id, request.agent_id))
  const maySeeFilter = (s: Subscription): boolean =>
    s.kind === 'feed' ? holds(caller, 'channel:read') : s.agentId === caller.id || holds(caller, 'interests:read')
  for (const reason of reasonsFor(table, request.agent_id, makeReasons(event, router, maySeeFilter))) {
    if (reason.channel_id === undefined || (await maySeeChannel(reason.channel_id))) reasons.push(reason)
  }
  if (reasons.length === 0) {
    const receives = matches.has(request.agent_id)
    const explanation = receives
      ? 'a feed of a channel that you may not see matches'
      : 'no interest of the agent, and no feed that you may see, matches'
    reasons.push({ kind: 'agent', id: request.agent_id, matches: receives, explanation })
  }
  return { recipients, agent: { agent_id: request.agent_id, receives: matches.has(request.agent_id), reasons } }
}
