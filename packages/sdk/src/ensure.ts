// Brings what exists to what is described, for start-up code: run it at every start, and only what differs is changed.
//
// 1. Agents and channels are known by their external ids. They are made or changed, never removed.
// 2. The interests of a described agent, and the feeds of a described channel, become exactly what is described, where
//    anything is said about them at all.
// 3. An agent makes its own interests. For another one a key is minted, used, and revoked.
import { interestOf, type NewInterest } from './agents.ts'
import type { Client } from './client.ts'
import type { Agent, AgentCreate, Channel, ChannelCreate, FeedCreate, Interest } from './contract.ts'
import type { CallOptions } from './request.ts'

type Described<T> = Omit<T, 'external_id'> & { external_id: string }

export interface Description {
  agents?: readonly Described<AgentCreate>[]
  /** `agent` is the external id of the agent that is interested. */
  interests?: readonly (NewInterest & { agent: string })[]
  /** `members` are external ids of agents; those who are missing are added. */
  channels?: readonly (Described<ChannelCreate> & { members?: readonly string[] })[]
  /** `channel` is the external id of the channel. */
  feeds?: readonly (FeedCreate & { channel: string })[]
  /** Lets an org-admin make the interests of agents, with keys that live for the moment it takes. */
  mintKeys?: boolean
}

export interface Ensured {
  /** By external id. */
  agents: Record<string, Agent>
  channels: Record<string, Channel>
}

/** What makes two interests of an agent the same one, and what tells apart two versions of it. */
const patternOf = ({ event_type, filter_expression }: NewInterest | Interest): string =>
  JSON.stringify([event_type, filter_expression ?? null])
const versionOf = (interest: NewInterest | Interest): string =>
  JSON.stringify([patternOf(interest), interest.priority ?? 0, interest.enrichment_depth ?? 'none'])

/** Works on a client of the agent itself: this one, or one with a key that is revoked afterwards. */
async function asAgent(
  client: Client,
  connect: (apiKey: string) => Client,
  agent: Agent,
  mayMint: boolean,
  work: (own: Client) => Promise<void>,
): Promise<void> {
  if ((await client.agent())?.id === agent.id) return work(client)
  if (!mayMint) {
    throw new TypeError(`only ${agent.external_id} can make its interests: pass mintKeys to let ensure act for it`)
  }
  const minted = await client.keys.mint(agent.id, { scopes: ['interests:read', 'interests:write'] })
  try {
    await work(connect(minted.key))
  } finally {
    await client.keys.revoke(agent.id, minted.id)
  }
}

async function ensureInterests(
  client: Client,
  connect: (apiKey: string) => Client,
  agent: Agent,
  wanted: readonly NewInterest[],
  mayMint: boolean,
  options?: CallOptions,
): Promise<void> {
  const { interests: there } = await client.interests.list(agent.id, options)
  const keep = new Set(wanted.map(versionOf))
  const surplus = there.filter((interest) => !keep.has(versionOf(interest)))
  const known = new Set(there.map(versionOf))
  const missing = wanted.filter((interest) => !known.has(versionOf(interest)))
  // First what goes: an interest that changed would otherwise conflict with its former self.
  for (const { id } of surplus) await client.interests.delete(agent.id, id, options)
  if (missing.length === 0) return
  await asAgent(client, connect, agent, mayMint, async (own) => {
    for (const interest of missing) await own.interests.create(agent.id, interestOf(interest), options)
  })
}

const feedKey = ({ event_type_glob, filter_expression }: FeedCreate): string =>
  JSON.stringify([event_type_glob, filter_expression ?? null])

async function ensureFeeds(
  client: Client,
  channelId: string,
  wanted: readonly FeedCreate[],
  options?: CallOptions,
): Promise<void> {
  const { feeds: there } = await client.channels.feeds(channelId, options)
  const keep = new Set(wanted.map(feedKey))
  const known = new Set(there.map(feedKey))
  for (const feed of wanted) if (!known.has(feedKey(feed))) await client.channels.createFeed(channelId, feed, options)
  for (const feed of there) if (!keep.has(feedKey(feed))) await client.channels.deleteFeed(channelId, feed.id, options)
}

/** The parts of a description that belong to one agent or channel, without the name that says so. */
function ofOwner<K extends string, T extends { [key in K]: string }>(
  items: readonly T[],
  key: K,
  owner: string,
): Omit<T, K>[] {
  return items
    .filter((item) => item[key] === owner)
    .map((item) => {
      const { [key]: _, ...rest } = item
      return rest
    })
}

export async function ensure(
  client: Client,
  connect: (apiKey: string) => Client,
  description: Description,
  options?: CallOptions,
): Promise<Ensured> {
  const { agents = [], interests = [], channels = [], feeds = [], mintKeys = false } = description
  const made: Ensured = { agents: {}, channels: {} }
  for (const { external_id, ...body } of agents) {
    made.agents[external_id] = await client.call('putAgent', { params: { external_id }, body }, options)
  }
  const agentOf = (externalId: string): Agent => {
    const agent = made.agents[externalId]
    if (!agent) throw new TypeError(`the description has no agent ${externalId}`)
    return agent
  }
  for (const name of new Set(interests.map(({ agent }) => agent))) {
    const wanted = ofOwner(interests, 'agent', name) as NewInterest[]
    await ensureInterests(client, connect, agentOf(name), wanted, mintKeys, options)
  }
  for (const { external_id, members = [], ...body } of channels) {
    const channel = await client.call('putChannel', { params: { external_id }, body }, options)
    made.channels[external_id] = channel
    const { members: there } = await client.channels.members(channel.id, options)
    for (const { id } of members.map(agentOf)) {
      if (there.some(({ participant_id }) => participant_id === id)) continue
      await client.channels.addMember(channel.id, { participant_type: 'agent', participant_id: id }, options)
    }
  }
  for (const name of new Set(feeds.map(({ channel }) => channel))) {
    const channel = made.channels[name]
    if (!channel) throw new TypeError(`the description has no channel ${name}`)
    await ensureFeeds(client, channel.id, ofOwner(feeds, 'channel', name) as FeedCreate[], options)
  }
  return made
}
