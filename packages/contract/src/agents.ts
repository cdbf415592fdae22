// Agents, and the exchange of a key for a token.
import { operation } from './operation.ts'
import {
  Type,
  type Notes,
  type Static,
  dateTime,
  externalId,
  filledText,
  id,
  nullableText,
  nullableUri,
  oneOf,
  page,
} from './shapes.ts'

export const DELIVERY_MODES = ['poll', 'push', 'sse'] as const
export const AGENT_STATUSES = ['active', 'inactive'] as const
/** The five chat clients that an agent may name unless the operator configures others; `other` is always allowed. */
export const DEFAULT_CLIENT_TYPES = ['claude', 'chatgpt', 'gemini', 'copilot', 'cursor'] as const

const endpoint = nullableUri({
  format: 'http-url',
  description:
    'Where pushes go. A user and password in it are shown to the agent itself (with `receive`) and to org-admins; others see `***` in their place.',
  expected: 'an absolute http or https URL of at most 2048 characters, or null',
  examples: ['https://agent.example.com/inbox'],
})

/** Schema of the waits after failed pushes, in seconds. */
export const retrySchedule = (notes: Notes = {}) =>
  Type.Unsafe<number[] | null>({
    type: ['array', 'null'],
    minItems: 1,
    maxItems: 16,
    items: { type: 'integer', minimum: 1, maximum: 86_400 },
    expected: 'an array of 1 to 16 integers from 1 to 86400, or null',
    examples: [[5, 60, 600]],
    ...notes,
  })

const schedule = retrySchedule({
  description:
    'The delays before push retries, in seconds: after the first failed push, the second, and so on. The last delay repeats. Null means the default schedule.',
})

export const Agent = Type.Object(
  {
    id: id('agt'),
    tenant_id: id('ten'),
    external_id: Type.Optional(externalId()),
    name: Type.String({ examples: ['Watcher'] }),
    description: nullableText(4096, { examples: ['Watches the pumps of the north plant.'] }),
    status: oneOf(AGENT_STATUSES),
    delivery_mode: oneOf(DELIVERY_MODES),
    delivery_endpoint: Type.Optional(endpoint),
    paused: Type.Boolean({
      examples: [false],
      description: 'While true, nothing is delivered to the agent and its events wait in the mailbox.',
    }),
    retry_schedule_seconds: schedule,
    client_type: Type.String({ examples: ['other'], description: 'One of the configured chat clients, or `other`.' }),
    team_id: nullableText(255, { examples: ['team-blue'] }),
    created_at: dateTime(),
    updated_at: dateTime(),
  },
  { $id: 'Agent' },
)
export type Agent = Static<typeof Agent>

export const AgentCreate = Type.Object(
  {
    name: filledText(255, { examples: ['Watcher'] }),
    description: Type.Optional(nullableText(4096)),
    delivery_mode: oneOf(DELIVERY_MODES),
    client_type: Type.String({
      format: 'client-type',
      expected: 'a configured client type, or "other"',
      examples: ['other'],
    }),
    team_id: Type.Optional(
      nullableText(255, { minLength: 1, expected: 'a non-empty string of at most 255 characters, or null' }),
    ),
    retry_schedule_seconds: Type.Optional(schedule),
    external_id: Type.Optional(externalId()),
  },
  { $id: 'AgentCreate' },
)

export const AgentUpdate = Type.Object(
  {
    name: Type.Optional(filledText(255, { examples: ['Watcher'] })),
    description: Type.Optional(nullableText(4096)),
    delivery_mode: Type.Optional(oneOf(DELIVERY_MODES)),
    delivery_endpoint: Type.Optional(endpoint),
    retry_schedule_seconds: Type.Optional(schedule),
  },
  { $id: 'AgentUpdate' },
)

export const TokenResponse = Type.Object(
  {
    access_token: Type.String({
      examples: ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZ3QifQ.c2lnbmF0dXJl'],
      description: 'A JWT. It is valid for one hour, or until its key expires if that is sooner.',
    }),
    token_type: oneOf(['Bearer']),
    expires_at: dateTime(),
    expires_in: Type.Integer({ description: 'Seconds until the token expires.', examples: [3600] }),
    agent: Type.Unsafe<Agent | null>({
      anyOf: [Type.Ref('Agent'), { type: 'null' }],
      description: 'The agent that the key belongs to; null for an org-admin key.',
    }),
  },
  { $id: 'TokenResponse' },
)

const tag = 'Agents'

export const agentOperations = {
  exchangeKey: operation({
    id: 'exchangeKey',
    summary: 'Exchange an API key for a token',
    tag: 'Authentication',
    method: 'POST',
    path: '/auth/token',
    access: { scope: 'public' },
    body: Type.Object(
      {
        api_key: Type.String({
          pattern: '^ak_live_[A-Za-z0-9]{32}$',
          minLength: 40,
          maxLength: 40,
          expected: 'an API key: ak_live_ and 32 letters or digits',
          examples: ['ak_live_0123456789abcdefghijABCDEFGHIJ01'],
        }),
      },
      { $id: 'TokenRequest' },
    ),
    secrets: ['api_key'],
    success: { 200: { description: 'A token', schema: TokenResponse } },
  }),
  listAgents: operation({
    id: 'listAgents',
    summary: 'List the agents of the tenant, newest first',
    tag,
    method: 'GET',
    path: '/agents',
    access: { scope: 'any' },
    query: Type.Object({ ...page, status: Type.Optional(oneOf(AGENT_STATUSES)) }),
    success: {
      200: {
        description: 'A page of agents',
        schema: Type.Object(
          { agents: Type.Array(Type.Unsafe<Agent>(Type.Ref('Agent'))), total: Type.Integer({ examples: [1] }) },
          { $id: 'AgentList' },
        ),
      },
    },
  }),
  registerAgent: operation({
    id: 'registerAgent',
    audit: ['name', 'delivery_mode', 'delivery_endpoint', 'client_type', 'team_id', 'external_id'],
    summary: 'Register an agent',
    tag,
    method: 'POST',
    path: '/agents',
    access: { scope: 'admin' },
    body: AgentCreate,
    urlWithUser: 'delivery_endpoint',
    success: { 201: { description: 'The agent', schema: Agent } },
  }),
  putAgent: operation({
    id: 'putAgent',
    audit: ['name', 'delivery_mode', 'delivery_endpoint', 'client_type', 'team_id'],
    summary: 'Register or update an agent by its external id',
    description:
      'Registers the agent if no agent has this external id. Otherwise replaces its fields with those of the body: fields that are left out get the defaults of a new agent, and status, endpoint and keys do not change. Repeating the request changes nothing.',
    tag,
    method: 'PUT',
    path: '/agents/by-external-id/{external_id}',
    access: { scope: 'admin' },
    body: AgentCreate,
    urlWithUser: 'delivery_endpoint',
    success: {
      200: { description: 'The agent, updated or unchanged', schema: Agent },
      201: { description: 'The new agent', schema: Agent },
    },
  }),
  getAgent: operation({
    id: 'getAgent',
    summary: 'Get an agent',
    tag,
    method: 'GET',
    path: '/agents/{id}',
    access: { scope: 'any' },
    success: { 200: { description: 'The agent', schema: Agent } },
  }),
  updateAgent: operation({
    id: 'updateAgent',
    audit: ['name', 'description', 'delivery_mode', 'delivery_endpoint', 'retry_schedule_seconds'],
    summary: 'Update an agent',
    tag,
    method: 'PATCH',
    path: '/agents/{id}',
    access: { scope: 'admin', self: 'receive' },
    body: AgentUpdate,
    urlWithUser: 'delivery_endpoint',
    success: { 200: { description: 'The updated agent', schema: Agent } },
  }),
  deactivateAgent: operation({
    id: 'deactivateAgent',
    audit: [],
    summary: 'Deactivate an agent',
    description:
      'The tokens of the agent stop working and it gets no new deliveries; queued deliveries wait. Repeating the request returns the same response.',
    tag,
    method: 'POST',
    path: '/agents/{id}/deactivate',
    access: { scope: 'admin' },
    success: {
      200: {
        description: 'The agent is inactive',
        schema: Type.Object({ status: oneOf(['inactive']) }, { $id: 'AgentDeactivated' }),
      },
    },
  }),
  activateAgent: operation({
    id: 'activateAgent',
    audit: [],
    summary: 'Activate an agent',
    tag,
    method: 'POST',
    path: '/agents/{id}/activate',
    access: { scope: 'admin' },
    success: {
      200: {
        description: 'The agent is active',
        schema: Type.Object({ status: oneOf(['active']) }, { $id: 'AgentActivated' }),
      },
    },
  }),
  pauseAgent: operation({
    id: 'pauseAgent',
    audit: [],
    summary: 'Pause an agent',
    description:
      'While an agent is paused, polls return nothing, and streams and pushes stop. Events still arrive in its mailbox, and it can acknowledge the deliveries that it already holds. Takes effect on every node at once. Repeating the request returns the same response.',
    tag,
    method: 'POST',
    path: '/agents/{id}/pause',
    access: { scope: 'admin', self: 'any' },
    success: {
      200: {
        description: 'The agent is paused',
        schema: Type.Object({ paused: Type.Boolean() }, { $id: 'AgentPaused' }),
      },
    },
  }),
  resumeAgent: operation({
    id: 'resumeAgent',
    audit: [],
    summary: 'Resume a paused agent',
    tag,
    method: 'POST',
    path: '/agents/{id}/resume',
    access: { scope: 'admin', self: 'any' },
    success: {
      200: {
        description: 'The agent is resumed',
        schema: Type.Object({ paused: Type.Boolean({ examples: [false] }) }, { $id: 'AgentResumed' }),
      },
    },
  }),
} as const
