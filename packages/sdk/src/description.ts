// What `ensure` is given.
import type { NewInterest } from './agents.ts'
import type { AgentCreate, ChannelCreate, FeedCreate } from './contract.ts'
import type { CallOptions } from './request.ts'

export interface Description {
  agents?: readonly (AgentCreate & { external_id: string })[] | undefined
  /** `agent` is the external id of a described agent, or the id of any agent; by default, the agent of this client. */
  interests?: readonly (NewInterest & { agent?: string | undefined })[] | undefined
  /** `members` are added, named in the same way as the `agent` of an interest. No member is ever removed. */
  channels?: readonly (ChannelCreate & { external_id: string; members?: readonly string[] | undefined })[] | undefined
  /** `channel` is the external id of a described channel, or the id of any channel. */
  feeds?: readonly (FeedCreate & { channel: string })[] | undefined
}

/** There is no `idempotencyKey`: `ensure` makes many calls, and one key cannot stand for all of them. */
export interface EnsureOptions extends Omit<CallOptions, 'idempotencyKey'> {
  /** Lets an org-admin create the interests of agents, with a key of each agent that is minted and then revoked. */
  mintKeys?: boolean | undefined
  /** Keeps interests and feeds that are not described. */
  keepOthers?: boolean | undefined
}
