// Agents, their keys and their interests.
import type { Agent, AgentCreate, AgentUpdate, InterestCreate, KeyMint, Operations } from './contract.ts'
import { withoutUndefined, type Optional } from './given.ts'
import { eachOf } from './pages.ts'
import type { Call, CallOptions } from './request.ts'

type ListQuery = Operations['listAgents']['query']

export function agentCalls(call: Call) {
  return {
    /** Returns one page of the tenant's agents, and how many there are in all. */
    list: (query: ListQuery = {}, options?: CallOptions) => call('listAgents', { query }, options),
    /** Yields all agents, fetching page after page. */
    each: (
      query: Omit<ListQuery, 'offset' | 'limit'> = {},
      options?: CallOptions,
    ): AsyncGenerator<Agent, void, undefined> =>
      eachOf('agents', (page) => call('listAgents', { query: { ...query, ...page } }, options)),
    /** Registers an agent. */
    register: (body: AgentCreate, options?: CallOptions) => call('registerAgent', { body }, options),
    /** Returns an agent. */
    get: (id: string, options?: CallOptions) => call('getAgent', { params: { id } }, options),
    /** Changes the given fields of an agent. */
    update: (id: string, body: AgentUpdate, options?: CallOptions) =>
      call('updateAgent', { params: { id }, body }, options),
    /** Activates an agent that was deactivated. */
    activate: (id: string, options?: CallOptions) => call('activateAgent', { params: { id } }, options),
    /** Deactivates an agent: its tokens stop working, and it gets no new deliveries. */
    deactivate: (id: string, options?: CallOptions) => call('deactivateAgent', { params: { id } }, options),
    /** Pauses delivery to the agent until it is resumed. Its events wait. */
    pause: (id: string, options?: CallOptions) => call('pauseAgent', { params: { id } }, options),
    /** Resumes delivery to a paused agent. */
    resume: (id: string, options?: CallOptions) => call('resumeAgent', { params: { id } }, options),
    /** Returns the queue health of an agent. */
    queue: (id: string, options?: CallOptions) => call('getQueue', { params: { id } }, options),
    /** The latest events that the agent acknowledged. */
    recentEvents: (id: string, limit?: number, options?: CallOptions) =>
      call('listRecentEvents', { params: { id }, query: { limit } }, options),
    /** Sends a test event to the agent. */
    sendTestEvent: (id: string, options?: CallOptions) => call('sendTestEvent', { params: { id } }, options),
    /** Creates a new push secret. For 24 hours, pushes carry a signature with the old secret as well. */
    rotatePushSecret: (id: string, options?: CallOptions) => call('createPushSecret', { params: { id } }, options),
  }
}

/** The scopes are only read, so they may be a constant. */
export type NewKey = Omit<KeyMint, 'scopes'> & { scopes: Readonly<KeyMint['scopes']> }

export function keyCalls(call: Call) {
  return {
    /** Lists the API keys of an agent, newest first, without their plaintext. */
    list: (agentId: string, options?: CallOptions) => call('listKeys', { params: { id: agentId } }, options),
    /** Mints an API key. Only this response contains its plaintext. */
    mint: (agentId: string, body: NewKey, options?: CallOptions) =>
      call('mintKey', { params: { id: agentId }, body: body as KeyMint }, options),
    /** Revokes an API key. */
    revoke: (agentId: string, keyId: string, options?: CallOptions) =>
      call('revokeKey', { params: { id: agentId, key_id: keyId } }, options),
  }
}

/** An interest to create. `priority` defaults to 0, `enrichment_depth` to `none`. */
export type NewInterest = Pick<InterestCreate, 'event_type'> & Optional<InterestCreate>

export const interestOf = (interest: NewInterest): InterestCreate => ({
  priority: 0,
  enrichment_depth: 'none',
  ...withoutUndefined(interest),
})

export function interestCalls(call: Call) {
  return {
    /** Lists the interests of an agent. */
    list: (agentId: string, options?: CallOptions) => call('listInterests', { params: { id: agentId } }, options),
    /** Creates an interest of an agent. */
    create: (agentId: string, interest: NewInterest, options?: CallOptions) =>
      call('createInterest', { params: { id: agentId }, body: interestOf(interest) }, options),
    /** Deletes an interest of an agent. */
    delete: (agentId: string, interestId: string, options?: CallOptions) =>
      call('deleteInterest', { params: { id: agentId, interest_id: interestId } }, options),
  }
}
