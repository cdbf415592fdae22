// The addressee of an event, from its `recipient` attribute: an agent, or a channel and through it every member but the
// sender. Addressees receive the event in addition to the agents that match.
//
// 1. Whether the agent or channel exists is read before the transaction. Membership and inactive agents come from the
//    routing table, which the transaction compares with what is committed.
// 2. Events from a webhook or a connector have no sender in the tenant. Their attribute stays in the event and
//    addresses nobody: a client that can write to a queue does not choose whose mailbox it fills.
import { ID_PREFIXES, isId, type ChannelType } from '@sensorium/contract'
import { readExistingChannels } from '../channels/sql.ts'
import { readExistingAgents } from '../agents/sql.ts'
import { isChannelVisible } from '../channels/rules.ts'
import { Failure, invalidEvent, notFound, ruleBroken } from '../kernel/failure.ts'
import type { Matching, RoutingTable } from '../routing/table.ts'
import type { Reads } from '../store/db.ts'
import type { PreparedEvent } from './envelope.ts'

/** A recipient costs as much to add as a subscription. */
const RECIPIENT_STEPS = 10

export type Addressee = { kind: 'agent'; id: string } | { kind: 'channel'; id: string; type: ChannelType }

/** Maps each addressed event to its addressee, or to the reason why it cannot be addressed. */
export type Addressees = ReadonlyMap<PreparedEvent, Addressee | Failure>

export const NO_ADDRESSEES: Addressees = new Map()

const isParticipant = (senderId: string): boolean => isId('agent', senderId) || isId('org_admin', senderId)

const unknown = (recipient: string): Failure =>
  notFound(recipient.startsWith(`${ID_PREFIXES.channel}_`) ? 'channel' : 'agent', recipient)

export async function findAddressees(
  db: Reads,
  tenantId: string,
  senderId: string,
  events: readonly PreparedEvent[],
): Promise<Addressees> {
  const addressed = events.filter(({ recipient }) => recipient !== null)
  if (addressed.length === 0 || !isParticipant(senderId)) return NO_ADDRESSEES
  const named = [...new Set(addressed.map(({ recipient }) => recipient))].filter((id) => typeof id === 'string')
  const [agentIds, channelIds] = [named.filter((id) => isId('agent', id)), named.filter((id) => isId('channel', id))]
  const found = new Map<string, Addressee>()
  if (agentIds.length > 0)
    for (const { id } of await readExistingAgents(db, tenantId, agentIds)) found.set(id, { kind: 'agent', id })
  if (channelIds.length > 0)
    for (const { id, type } of await readExistingChannels(db, tenantId, channelIds))
      found.set(id, { kind: 'channel', id, type })
  return new Map(
    addressed.map((event) => {
      const { recipient } = event
      if (typeof recipient !== 'string')
        return [event, invalidEvent('recipient', recipient, 'the id of an agent or of a channel')]
      return [event, found.get(recipient) ?? unknown(recipient)]
    }),
  )
}

/** Returns why an event cannot be delivered to an agent that it names, or null. */
export const refuseInactive = ({ inactive }: RoutingTable, id: string): Failure | null =>
  inactive.has(id) ? ruleBroken('agent_inactive', 'An inactive agent receives no event', { agent_id: id }) : null

/** Returns the addressee that was found, or why the event cannot be delivered to it by the tenant's routing. */
export function admitAddressee(table: RoutingTable, found: Addressee | Failure, senderId: string): Addressee | Failure {
  if (found instanceof Failure) return found
  const { kind, id } = found
  if (kind === 'agent') return refuseInactive(table, id) ?? found
  if (table.members.get(id)?.has(senderId)) return found
  const type = isId('org_admin', senderId) ? 'org_admin' : 'agent'
  if (!isChannelVisible(found.type, { type, id: senderId, role: null })) return unknown(id)
  return ruleBroken('not_a_member', 'Only a member of a channel posts to it', { channel_id: id })
}

/** Adds the addressees to the matches. `found` may be shared by all events of a type, so it is not changed. */
export function withAddressee(table: RoutingTable, addressee: Addressee, senderId: string, found: Matching): Matching {
  const receivers =
    addressee.kind === 'agent'
      ? [addressee.id]
      : [...(table.members.get(addressee.id) ?? [])].filter((id) => id !== senderId && !table.inactive.has(id))
  const matches = new Map(found.matches)
  for (const recipientId of receivers) {
    const match = matches.get(recipientId) ?? { recipientId, priority: 0, enrichment: 'none', matched: [] }
    matches.set(recipientId, { ...match, addressedAs: addressee.id })
  }
  return { matches, list: [...matches.values()], steps: found.steps + receivers.length * RECIPIENT_STEPS }
}
