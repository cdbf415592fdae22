// Who would receive this event, and why; for one agent, also why not. Nothing is stored.
import type { Matched, Reason } from '@sensorium/contract'
import { requireAgent } from '../agents/get.ts'
import { compileFilter, describeOutcome } from '../routing/filter.ts'
import { compileGlob } from '../routing/glob.ts'
import type { Router } from '../routing/router.ts'
import type { RoutingTable, Subscription } from '../routing/table.ts'
import type { Db } from '../store/db.ts'
import { prepareEvent, type PreparedEvent } from './envelope.ts'
import { shownSubscription } from './matched.ts'

export interface Explanation {
  recipients: { agent_id: string; via: Matched[]; priority: number }[]
  agent?: { agent_id: string; receives: boolean; reasons: Reason[] }
}

const MAX_REASONS = 200

function reasonOf(event: PreparedEvent, subscription: Subscription): Reason {
  const typeMatches = compileGlob(subscription.glob).matches(event.type)
  const base = {
    ...shownSubscription(subscription),
    kind: subscription.kind,
    id: subscription.id,
    type_matches: typeMatches,
    filter: subscription.filter,
  }
  if (!typeMatches)
    return { ...base, matches: false, explanation: `the type ${event.type} does not match ${subscription.glob}` }
  if (subscription.filter === null)
    return { ...base, matches: true, explanation: `the type matches ${subscription.glob}` }
  const outcome = compileFilter(subscription.filter).evaluate(event.envelope)
  return {
    ...base,
    matches: outcome.outcome === 'match',
    explanation: `the type matches ${subscription.glob}; ${describeOutcome(outcome)}`,
  }
}

function reasonsFor(event: PreparedEvent, table: RoutingTable, agentId: string): Reason[] {
  const reasons: Reason[] = []
  if (table.inactive.has(agentId))
    reasons.push({ kind: 'agent', id: agentId, matches: false, explanation: 'the agent is inactive' })
  for (const subscription of table.subscriptions.values()) {
    if (reasons.length >= MAX_REASONS) break
    if (subscription.kind === 'interest') {
      if (subscription.agentId === agentId) reasons.push(reasonOf(event, subscription))
    } else if (table.members.get(subscription.channelId!)?.includes(agentId))
      reasons.push(reasonOf(event, subscription))
    else {
      const reason = reasonOf(event, subscription)
      // A feed that would have matched, had the agent been a member, is worth a word; the others are not about this
      // event.
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
  tenantId: string,
  request: { event: unknown; agent_id?: string },
  /** Feeds of channels that the caller may not see stay out of the reasons. */
  maySeeChannel: (channelId: string) => Promise<boolean>,
): Promise<Explanation> {
  const event = prepareEvent(request.event, '')
  if (request.agent_id !== undefined) await requireAgent(db, tenantId, request.agent_id)
  await router.prepare([tenantId])
  const table = (await router.tables(db, [tenantId])).get(tenantId)!
  const matches = table.match(event.envelope)
  const seen = new Map<string, boolean>()
  for (const { matched } of matches.values()) {
    for (const { channelId } of matched)
      if (channelId !== null && !seen.has(channelId)) seen.set(channelId, await maySeeChannel(channelId))
  }
  // That a feed leads there may be told; which one, of a channel that the caller may not see, may not.
  const via = (s: Subscription): Matched =>
    s.channelId === null || seen.get(s.channelId) ? shownSubscription(s) : { kind: 'feed', id: null }
  const recipients = [...matches.values()].map((match) => ({
    agent_id: match.recipientId,
    via: match.matched.map(via),
    priority: match.priority,
  }))
  if (request.agent_id === undefined) return { recipients }
  const reasons: Reason[] = []
  for (const reason of reasonsFor(event, table, request.agent_id)) {
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
