// Agents, their keys and their interests.
import type { Agent, AgentCreate, AgentUpdate, InterestCreate, KeyMint, Operations } from './contract.ts'
import { given } from './given.ts'
import { eachOf } from './pages.ts'
import type { Call, CallOptions } from './request.ts'

type ListQuery = Operations['listAgents']['query']

export function agentCalls(call: Call) {
  return {
    list: (query: ListQuery = {}, options?: CallOptions) => call('listAgents', { query }, options),
    each: (
      query: Omit<ListQuery, 'offset' | 'limit'> = {},
      options?: CallOptions,
    ): AsyncGenerator<Agent, void, undefined> =>
      eachOf(async (page) => {
        const { agents, total } = await call('listAgents', { query: { ...query, ...page } }, options)
        return { items: agents, total }
      }),
    register: (body: AgentCreate, options?: CallOptions) => call('registerAgent', { body }, options),
    get: (id: string, options?: CallOptions) => call('getAgent', { params: { id } }, options),
    update: (id: string, body: AgentUpdate, options?: CallOptions) =>
      call('updateAgent', { params: { id }, body }, options),
    activate: (id: string, options?: CallOptions) => call('activateAgent', { params: { id } }, options),
    deactivate: (id: string, options?: CallOptions) => call('deactivateAgent', { params: { id } }, options),
    /** Nothing is handed to it until it is resumed; its events wait. */
    pause: (id: string, options?: CallOptions) => call('pauseAgent', { params: { id } }, options),
    resume: (id: string, options?: CallOptions) => call('resumeAgent', { params: { id } }, options),
    queue: (id: string, options?: CallOptions) => call('getQueue', { params: { id } }, options),
    /** The latest events that the agent acknowledged. */
    recentEvents: (id: string, limit?: number, options?: CallOptions) =>
      call('listRecentEvents', { params: { id }, query: limit === undefined ? {} : { limit } }, options),
    sendTestEvent: (id: string, options?: CallOptions) => call('sendTestEvent', { params: { id } }, options),
    /** Makes a new push secret; the old one signs along for 24 hours. */
    rotatePushSecret: (id: string, options?: CallOptions) => call('createPushSecret', { params: { id } }, options),
  }
}

export function keyCalls(call: Call) {
  return {
    list: (agentId: string, options?: CallOptions) => call('listKeys', { params: { id: agentId } }, options),
    /** The plaintext is in this response and in no other. */
    mint: (agentId: string, body: KeyMint, options?: CallOptions) =>
      call('mintKey', { params: { id: agentId }, body }, options),
    revoke: (agentId: string, keyId: string, options?: CallOptions) =>
      call('revokeKey', { params: { id: agentId, key_id: keyId } }, options),
  }
}

/** Priority and enrichment have the usual values where they are left out. */
export type NewInterest = Pick<InterestCreate, 'event_type'> & Partial<InterestCreate>

export const interestOf = (interest: NewInterest): InterestCreate => ({
  priority: 0,
  enrichment_depth: 'none',
  ...given(interest),
})

export function interestCalls(call: Call) {
  return {
    list: (agentId: string, options?: CallOptions) => call('listInterests', { params: { id: agentId } }, options),
    create: (agentId: string, interest: NewInterest, options?: CallOptions) =>
      call('createInterest', { params: { id: agentId }, body: interestOf(interest) }, options),
    delete: (agentId: string, interestId: string, options?: CallOptions) =>
      call('deleteInterest', { params: { id: agentId, interest_id: interestId } }, options),
  }
}
