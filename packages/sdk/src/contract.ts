// Generated from the contract by `npm run openapi`. Edit packages/contract instead; a test compares the two.

/** Where each operation is. */
export const OPERATIONS = {
  exchangeKey: 'POST /v1/auth/token',
  listAgents: 'GET /v1/agents',
  registerAgent: 'POST /v1/agents',
  putAgent: 'PUT /v1/agents/by-external-id/{external_id}',
  getAgent: 'GET /v1/agents/{id}',
  updateAgent: 'PATCH /v1/agents/{id}',
  deactivateAgent: 'POST /v1/agents/{id}/deactivate',
  activateAgent: 'POST /v1/agents/{id}/activate',
  pauseAgent: 'POST /v1/agents/{id}/pause',
  resumeAgent: 'POST /v1/agents/{id}/resume',
  listKeys: 'GET /v1/agents/{id}/keys',
  mintKey: 'POST /v1/agents/{id}/keys',
  revokeKey: 'DELETE /v1/agents/{id}/keys/{key_id}',
  publishEvent: 'POST /v1/events',
  getEvent: 'GET /v1/events/{id}',
  explainEvent: 'POST /v1/events/explain',
  sendTestEvent: 'POST /v1/agents/{id}/test-event',
  listEventTypes: 'GET /v1/events/types',
  listEvents: 'GET /v1/events',
  pollDeliveries: 'GET /v1/delivery/poll',
  ackDeliveries: 'POST /v1/delivery/ack',
  nackDeliveries: 'POST /v1/delivery/nack',
  extendDeliveries: 'POST /v1/delivery/extend',
  listDeadLetters: 'GET /v1/delivery/dlq',
  replayDeadLetter: 'POST /v1/delivery/dlq/{id}/replay',
  listRecentEvents: 'GET /v1/agents/{id}/events',
  getQueue: 'GET /v1/agents/{id}/queue',
  replayDeadLetters: 'POST /v1/delivery/dlq/replay',
  discardDeadLetters: 'POST /v1/delivery/dlq/discard',
  getDeadLetterSummary: 'GET /v1/delivery/dlq/summary',
  createPushSecret: 'POST /v1/agents/{id}/push-secret',
  streamDeliveries: 'GET /v1/delivery/stream',
  getStats: 'GET /v1/stats',
  streamLive: 'GET /v1/live',
  listAudit: 'GET /v1/audit',
  listTenantAudit: 'GET /operator/tenants/{slug}/audit',
  listInterests: 'GET /v1/agents/{id}/interests',
  createInterest: 'POST /v1/agents/{id}/interests',
  deleteInterest: 'DELETE /v1/agents/{id}/interests/{interest_id}',
  listChannels: 'GET /v1/channels',
  createChannel: 'POST /v1/channels',
  putChannel: 'PUT /v1/channels/by-external-id/{external_id}',
  getChannel: 'GET /v1/channels/{id}',
  deleteChannel: 'DELETE /v1/channels/{id}',
  listMembers: 'GET /v1/channels/{id}/members',
  addMember: 'POST /v1/channels/{id}/members',
  removeMember: 'DELETE /v1/channels/{id}/members/{participant_type}/{participant_id}',
  listFeeds: 'GET /v1/channels/{id}/feeds',
  createFeed: 'POST /v1/channels/{id}/feeds',
  deleteFeed: 'DELETE /v1/channels/{id}/feeds/{feed_id}',
  listMemories: 'GET /v1/memories',
  createMemory: 'POST /v1/memories',
  searchMemories: 'POST /v1/memories/search',
  getMemory: 'GET /v1/memories/{id}',
  updateMemory: 'PATCH /v1/memories/{id}',
  deleteMemory: 'DELETE /v1/memories/{id}',
  promoteMemory: 'POST /v1/memories/{id}/promote',
  putMemory: 'PUT /v1/memories/by-external-id/{external_id}',
  getMemoryHistory: 'GET /v1/memories/{id}/history',
  restoreMemory: 'POST /v1/memories/{id}/restore',
  findSimilarMemories: 'GET /v1/memories/{id}/similar',
  mergeMemories: 'POST /v1/memories/{id}/merge',
  exportMemories: 'GET /v1/memories/export',
  importMemories: 'POST /v1/memories/import',
  createRelationship: 'POST /v1/memories/{id}/relationships',
  listRelationships: 'GET /v1/memories/{id}/relationships',
  deleteRelationship: 'DELETE /v1/memories/{id}/relationships/{rel_id}',
  createTenant: 'POST /operator/tenants',
  listTenants: 'GET /operator/tenants',
  createAdminKey: 'POST /operator/tenants/{slug}/admin-keys',
  listAdminKeys: 'GET /operator/tenants/{slug}/admin-keys',
  revokeAdminKey: 'DELETE /operator/tenants/{slug}/admin-keys/{key_id}',
  getTenantSettings: 'GET /operator/tenants/{slug}/settings',
  updateTenantSettings: 'PATCH /operator/tenants/{slug}/settings',
  getUsage: 'GET /operator/usage',
  createWebhook: 'POST /operator/webhooks',
  listWebhooks: 'GET /operator/webhooks',
  rotateWebhook: 'POST /operator/webhooks/{id}/rotate',
  deleteWebhook: 'DELETE /operator/webhooks/{id}',
  createConnector: 'POST /operator/connectors',
  listConnectors: 'GET /operator/connectors',
  pauseConnector: 'POST /operator/connectors/{id}/pause',
  resumeConnector: 'POST /operator/connectors/{id}/resume',
  deleteConnector: 'DELETE /operator/connectors/{id}',
  ingestWebhook: 'POST /ingest/w/{tenant_slug}',
  ingestOwnWebhook: 'POST /ingest/w/{tenant_slug}/{webhook_id}',
} as const

/** What goes into each operation and what comes back. */
export interface Operations {
  /** Exchange an API key for a token: POST /v1/auth/token */
  exchangeKey: {
    params: Record<never, never>
    query: Record<never, never>
    body: TokenRequest
    response: TokenResponse
  }
  /** List the agents of the tenant, newest first: GET /v1/agents */
  listAgents: {
    params: Record<never, never>
    query: {
      offset?: number
      limit?: number
      status?: 'active' | 'inactive'
    }
    body: undefined
    response: AgentList
  }
  /** Register an agent: POST /v1/agents */
  registerAgent: {
    params: Record<never, never>
    query: Record<never, never>
    body: AgentCreate
    response: Agent
  }
  /** Register or change an agent by its external id: PUT /v1/agents/by-external-id/{external_id} */
  putAgent: {
    params: { external_id: string }
    query: Record<never, never>
    body: AgentCreate
    response: Agent
  }
  /** Get an agent: GET /v1/agents/{id} */
  getAgent: {
    params: { id: string }
    query: Record<never, never>
    body: undefined
    response: Agent
  }
  /** Update an agent: PATCH /v1/agents/{id} */
  updateAgent: {
    params: { id: string }
    query: Record<never, never>
    body: AgentUpdate
    response: Agent
  }
  /** Deactivate an agent: POST /v1/agents/{id}/deactivate */
  deactivateAgent: {
    params: { id: string }
    query: Record<never, never>
    body: undefined
    response: AgentDeactivated
  }
  /** Activate an agent: POST /v1/agents/{id}/activate */
  activateAgent: {
    params: { id: string }
    query: Record<never, never>
    body: undefined
    response: AgentActivated
  }
  /** Pause an agent: POST /v1/agents/{id}/pause */
  pauseAgent: {
    params: { id: string }
    query: Record<never, never>
    body: undefined
    response: AgentPaused
  }
  /** Resume a paused agent: POST /v1/agents/{id}/resume */
  resumeAgent: {
    params: { id: string }
    query: Record<never, never>
    body: undefined
    response: AgentResumed
  }
  /** List the API keys of an agent: GET /v1/agents/{id}/keys */
  listKeys: {
    params: { id: string }
    query: Record<never, never>
    body: undefined
    response: KeyList
  }
  /** Mint an API key: POST /v1/agents/{id}/keys */
  mintKey: {
    params: { id: string }
    query: Record<never, never>
    body: KeyMint
    response: MintedKey
  }
  /** Revoke an API key: DELETE /v1/agents/{id}/keys/{key_id} */
  revokeKey: {
    params: { id: string; key_id: string }
    query: Record<never, never>
    body: undefined
    response: undefined
  }
  /** Publish an event: POST /v1/events */
  publishEvent: {
    params: Record<never, never>
    query: Record<never, never>
    body: Event
    response: Published | BatchResults | Published
  }
  /** Trace an event: its receipts: GET /v1/events/{id} */
  getEvent: {
    params: { id: string }
    query: Record<never, never>
    body: undefined
    response: Trace
  }
  /** Explain who would receive an event, and why: POST /v1/events/explain */
  explainEvent: {
    params: Record<never, never>
    query: Record<never, never>
    body: ExplainRequest
    response: Explanation
  }
  /** Send a test event to an agent: POST /v1/agents/{id}/test-event */
  sendTestEvent: {
    params: { id: string }
    query: Record<never, never>
    body: undefined
    response: TestEventSent
  }
  /** List the types of events, the latest first: GET /v1/events/types */
  listEventTypes: {
    params: Record<never, never>
    query: {
      offset?: number
      limit?: number
    }
    body: undefined
    response: EventTypeList
  }
  /** Search the events of the tenant, newest first: GET /v1/events */
  listEvents: {
    params: Record<never, never>
    query: {
      /** A pattern over event types, as in an interest: `*`, `?`, `[a-z]`. */
      type?: string
      subject?: string
      source?: string
      id?: string
      sender?: string
      causationid?: string
      /** Accepted then or later. */
      since?: string
      /** Accepted then or earlier. */
      until?: string
      offset?: number
      limit?: number
    }
    body: undefined
    response: EventList
  }
  /** Poll the mailbox: GET /v1/delivery/poll */
  pollDeliveries: {
    params: Record<never, never>
    query: {
      /** More than 100 is taken as 100. */
      limit?: number
      /** Seconds to wait for something to be due. */
      wait?: number
    }
    body: undefined
    response: DeliveryList
  }
  /** Acknowledge deliveries: POST /v1/delivery/ack */
  ackDeliveries: {
    params: Record<never, never>
    query: Record<never, never>
    body: AckRequest
    response: Acknowledged
  }
  /** Give deliveries back: POST /v1/delivery/nack */
  nackDeliveries: {
    params: Record<never, never>
    query: Record<never, never>
    body: NackRequest
    response: GivenBack
  }
  /** Lengthen leases: POST /v1/delivery/extend */
  extendDeliveries: {
    params: Record<never, never>
    query: Record<never, never>
    body: ExtendRequest
    response: Extended
  }
  /** List dead letters: GET /v1/delivery/dlq */
  listDeadLetters: {
    params: Record<never, never>
    query: {
      offset?: number
      limit?: number
      /** A pattern over event types, as in an interest: `*`, `?`, `[a-z]`. */
      event_type?: string
      /** Its recipient. An agent finds its own alone. */
      agent_id?: string
      /** A part of `dlq_reason`, whatever the case. */
      reason?: string
      /** Dead-lettered then or later. */
      since?: string
      /** Dead-lettered then or earlier. */
      until?: string
    }
    body: undefined
    response: DeadLetterList
  }
  /** Replay a dead letter: POST /v1/delivery/dlq/{id}/replay */
  replayDeadLetter: {
    params: { id: string }
    query: Record<never, never>
    body: undefined
    response: Replayed
  }
  /** The latest events an agent acknowledged: GET /v1/agents/{id}/events */
  listRecentEvents: {
    params: { id: string }
    query: {
      /** More than 100 is taken as 100. */
      limit?: number
    }
    body: undefined
    response: RecentEventList
  }
  /** How the queue of an agent is doing: GET /v1/agents/{id}/queue */
  getQueue: {
    params: { id: string }
    query: Record<never, never>
    body: undefined
    response: Queue
  }
  /** Replay many dead letters: POST /v1/delivery/dlq/replay */
  replayDeadLetters: {
    params: Record<never, never>
    query: Record<never, never>
    body: DeadLetterChoice
    response: DeadLettersReplayed
  }
  /** Discard many dead letters: POST /v1/delivery/dlq/discard */
  discardDeadLetters: {
    params: Record<never, never>
    query: Record<never, never>
    body: DeadLetterChoice
    response: DeadLettersDiscarded
  }
  /** Count dead letters by reason, event type and agent: GET /v1/delivery/dlq/summary */
  getDeadLetterSummary: {
    params: Record<never, never>
    query: Record<never, never>
    body: undefined
    response: DeadLetterSummary
  }
  /** Make a new push secret: POST /v1/agents/{id}/push-secret */
  createPushSecret: {
    params: { id: string }
    query: Record<never, never>
    body: undefined
    response: PushSecret
  }
  /** Stream the mailbox: GET /v1/delivery/stream */
  streamDeliveries: {
    params: Record<never, never>
    query: {
      /** How many unacknowledged deliveries the stream may hold. */
      max_in_flight?: number
    }
    body: undefined
    response: string
  }
  /** What happened in the tenant, by the minute: GET /v1/stats */
  getStats: {
    params: Record<never, never>
    query: {
      minutes?: number
    }
    body: undefined
    response: Stats
  }
  /** Watch the tenant live: GET /v1/live */
  streamLive: {
    params: Record<never, never>
    query: {
      /** A pattern over event types, as in an interest: `*`, `?`, `[a-z]`. */
      type?: string
      /** A CEL expression over the event, as in an interest. */
      filter?: string
    }
    body: undefined
    response: string
  }
  /** List who changed what, newest first: GET /v1/audit */
  listAudit: {
    params: Record<never, never>
    query: {
      actor?: string
      action?: string
      since?: string
      until?: string
      offset?: number
      limit?: number
    }
    body: undefined
    response: AuditList
  }
  /** List who changed what in a tenant, newest first: GET /operator/tenants/{slug}/audit */
  listTenantAudit: {
    params: { slug: string }
    query: {
      actor?: string
      action?: string
      since?: string
      until?: string
      offset?: number
      limit?: number
    }
    body: undefined
    response: AuditList
  }
  /** List the interests of an agent, newest first: GET /v1/agents/{id}/interests */
  listInterests: {
    params: { id: string }
    query: Record<never, never>
    body: undefined
    response: InterestList
  }
  /** Create an interest: POST /v1/agents/{id}/interests */
  createInterest: {
    params: { id: string }
    query: Record<never, never>
    body: InterestCreate
    response: Interest
  }
  /** Delete an interest: DELETE /v1/agents/{id}/interests/{interest_id} */
  deleteInterest: {
    params: { id: string; interest_id: string }
    query: Record<never, never>
    body: undefined
    response: undefined
  }
  /** List channels, newest first: GET /v1/channels */
  listChannels: {
    params: Record<never, never>
    query: {
      offset?: number
      limit?: number
    }
    body: undefined
    response: ChannelList
  }
  /** Create a channel: POST /v1/channels */
  createChannel: {
    params: Record<never, never>
    query: Record<never, never>
    body: ChannelCreate
    response: Channel
  }
  /** Create or change a channel by its external id: PUT /v1/channels/by-external-id/{external_id} */
  putChannel: {
    params: { external_id: string }
    query: Record<never, never>
    body: ChannelCreate
    response: Channel
  }
  /** Get a channel: GET /v1/channels/{id} */
  getChannel: {
    params: { id: string }
    query: Record<never, never>
    body: undefined
    response: Channel
  }
  /** Delete a channel: DELETE /v1/channels/{id} */
  deleteChannel: {
    params: { id: string }
    query: Record<never, never>
    body: undefined
    response: undefined
  }
  /** List the members of a channel, newest first: GET /v1/channels/{id}/members */
  listMembers: {
    params: { id: string }
    query: Record<never, never>
    body: undefined
    response: MemberList
  }
  /** Add a member to a channel: POST /v1/channels/{id}/members */
  addMember: {
    params: { id: string }
    query: Record<never, never>
    body: MemberAdd
    response: Member
  }
  /** Remove a member from a channel, or leave it: DELETE /v1/channels/{id}/members/{participant_type}/{participant_id} */
  removeMember: {
    params: { id: string; participant_type: string; participant_id: string }
    query: Record<never, never>
    body: undefined
    response: undefined
  }
  /** List the feeds of a channel, newest first: GET /v1/channels/{id}/feeds */
  listFeeds: {
    params: { id: string }
    query: Record<never, never>
    body: undefined
    response: FeedList
  }
  /** Create a feed: POST /v1/channels/{id}/feeds */
  createFeed: {
    params: { id: string }
    query: Record<never, never>
    body: FeedCreate
    response: Feed
  }
  /** Delete a feed: DELETE /v1/channels/{id}/feeds/{feed_id} */
  deleteFeed: {
    params: { id: string; feed_id: string }
    query: Record<never, never>
    body: undefined
    response: undefined
  }
  /** List memories, newest first: GET /v1/memories */
  listMemories: {
    params: Record<never, never>
    query: {
      offset?: number
      limit?: number
      type?: 'episodic' | 'semantic' | 'procedural' | 'entity' | 'reflection' | 'reasoning'
      scope?: 'agent' | 'team' | 'institutional'
      project_id?: string
      /** `deleted` and `expired`: for their owner and org-admins. */
      status?: 'active' | 'deleted' | 'expired'
      created_after?: string
      created_before?: string
      /** One literal substring of the title or the content, in any case. Not semantic. */
      search?: string
    }
    body: undefined
    response: MemoryList
  }
  /** Create a memory: POST /v1/memories */
  createMemory: {
    params: Record<never, never>
    query: Record<never, never>
    body: MemoryCreate
    response: CreatedMemory
  }
  /** Search memories by meaning: POST /v1/memories/search */
  searchMemories: {
    params: Record<never, never>
    query: Record<never, never>
    body: MemorySearch
    response: SearchResults
  }
  /** Get a memory: GET /v1/memories/{id} */
  getMemory: {
    params: { id: string }
    query: Record<never, never>
    body: undefined
    response: Memory
  }
  /** Update a memory: PATCH /v1/memories/{id} */
  updateMemory: {
    params: { id: string }
    query: Record<never, never>
    body: MemoryUpdate
    response: Memory
  }
  /** Delete a memory: DELETE /v1/memories/{id} */
  deleteMemory: {
    params: { id: string }
    query: {
      /** Keeps nothing of it. For org-admins. */
      erase?: boolean
    }
    body: undefined
    response: undefined
  }
  /** Promote a memory to a wider scope: POST /v1/memories/{id}/promote */
  promoteMemory: {
    params: { id: string }
    query: Record<never, never>
    body: MemoryPromote
    response: Memory
  }
  /** Create or change a memory by its external id: PUT /v1/memories/by-external-id/{external_id} */
  putMemory: {
    params: { external_id: string }
    query: Record<never, never>
    body: MemoryCreate
    response: Memory
  }
  /** Show the versions of a memory, newest first: GET /v1/memories/{id}/history */
  getMemoryHistory: {
    params: { id: string }
    query: Record<never, never>
    body: undefined
    response: MemoryHistory
  }
  /** Restore a version of a memory: POST /v1/memories/{id}/restore */
  restoreMemory: {
    params: { id: string }
    query: Record<never, never>
    body: MemoryRestore
    response: Memory
  }
  /** Find memories that say nearly the same: GET /v1/memories/{id}/similar */
  findSimilarMemories: {
    params: { id: string }
    query: {
      limit?: number
    }
    body: undefined
    response: SimilarMemories
  }
  /** Merge memories into one: POST /v1/memories/{id}/merge */
  mergeMemories: {
    params: { id: string }
    query: Record<never, never>
    body: MemoryMerge
    response: Memory
  }
  /** Export memories and their relationships: GET /v1/memories/export */
  exportMemories: {
    params: Record<never, never>
    query: {
      /** Memories updated, and relationships created, since then. */
      since?: string
    }
    body: undefined
    response: string
  }
  /** Import memories and relationships: POST /v1/memories/import */
  importMemories: {
    params: Record<never, never>
    query: Record<never, never>
    body: string
    response: ImportedMemories
  }
  /** Relate a memory to another: POST /v1/memories/{id}/relationships */
  createRelationship: {
    params: { id: string }
    query: Record<never, never>
    body: RelationshipCreate
    response: Relationship
  }
  /** Traverse the relationships of a memory: GET /v1/memories/{id}/relationships */
  listRelationships: {
    params: { id: string }
    query: {
      /** Less than 1 is taken as 1, more than 3 as 3. */
      depth?: number
      /** Which relationships are followed. */
      direction?: 'out' | 'in' | 'both'
    }
    body: undefined
    response: Traversal
  }
  /** Delete a relationship: DELETE /v1/memories/{id}/relationships/{rel_id} */
  deleteRelationship: {
    params: { id: string; rel_id: string }
    query: Record<never, never>
    body: undefined
    response: undefined
  }
  /** Create a tenant: POST /operator/tenants */
  createTenant: {
    params: Record<never, never>
    query: Record<never, never>
    body: TenantCreate
    response: TenantCreated
  }
  /** List the tenants, newest first: GET /operator/tenants */
  listTenants: {
    params: Record<never, never>
    query: {
      offset?: number
      limit?: number
    }
    body: undefined
    response: TenantList
  }
  /** Make another org-admin key: POST /operator/tenants/{slug}/admin-keys */
  createAdminKey: {
    params: { slug: string }
    query: Record<never, never>
    body: undefined
    response: AdminKeyCreated
  }
  /** List the org-admin keys of a tenant, newest first: GET /operator/tenants/{slug}/admin-keys */
  listAdminKeys: {
    params: { slug: string }
    query: Record<never, never>
    body: undefined
    response: AdminKeyList
  }
  /** Revoke an org-admin key: DELETE /operator/tenants/{slug}/admin-keys/{key_id} */
  revokeAdminKey: {
    params: { slug: string; key_id: string }
    query: Record<never, never>
    body: undefined
    response: undefined
  }
  /** The settings of a tenant: GET /operator/tenants/{slug}/settings */
  getTenantSettings: {
    params: { slug: string }
    query: Record<never, never>
    body: undefined
    response: TenantSettings
  }
  /** Change settings of a tenant: PATCH /operator/tenants/{slug}/settings */
  updateTenantSettings: {
    params: { slug: string }
    query: Record<never, never>
    body: TenantSettingsUpdate
    response: TenantSettings
  }
  /** What a tenant used, per day: GET /operator/usage */
  getUsage: {
    params: Record<never, never>
    query: {
      tenant: string
    }
    body: undefined
    response: Usage
  }
  /** Register a webhook: POST /operator/webhooks */
  createWebhook: {
    params: Record<never, never>
    query: Record<never, never>
    body: WebhookCreate
    response: WebhookCreated
  }
  /** List the webhooks, newest first: GET /operator/webhooks */
  listWebhooks: {
    params: Record<never, never>
    query: {
      tenant?: string
      offset?: number
      limit?: number
    }
    body: undefined
    response: WebhookList
  }
  /** Replace a webhook's secret: POST /operator/webhooks/{id}/rotate */
  rotateWebhook: {
    params: { id: string }
    query: Record<never, never>
    body: WebhookRotate | undefined
    response: WebhookRotated
  }
  /** Delete a webhook; its secret verifies no longer: DELETE /operator/webhooks/{id} */
  deleteWebhook: {
    params: { id: string }
    query: Record<never, never>
    body: undefined
    response: undefined
  }
  /** Register an AMQP 1.0 connector: POST /operator/connectors */
  createConnector: {
    params: Record<never, never>
    query: Record<never, never>
    body: ConnectorCreate
    response: ConnectorResponse
  }
  /** List the connectors, newest first: GET /operator/connectors */
  listConnectors: {
    params: Record<never, never>
    query: {
      tenant?: string
      offset?: number
      limit?: number
    }
    body: undefined
    response: ConnectorList
  }
  /** Stop receiving, until resumed: POST /operator/connectors/{id}/pause */
  pauseConnector: {
    params: { id: string }
    query: Record<never, never>
    body: undefined
    response: ConnectorResponse
  }
  /** Receive again: POST /operator/connectors/{id}/resume */
  resumeConnector: {
    params: { id: string }
    query: Record<never, never>
    body: undefined
    response: ConnectorResponse
  }
  /** Delete a connector: DELETE /operator/connectors/{id} */
  deleteConnector: {
    params: { id: string }
    query: Record<never, never>
    body: undefined
    response: undefined
  }
  /** Send an event from outside: POST /ingest/w/{tenant_slug} */
  ingestWebhook: {
    params: { tenant_slug: string }
    query: Record<never, never>
    body: unknown
    response: Published
  }
  /** Send an event from outside to one webhook: POST /ingest/w/{tenant_slug}/{webhook_id} */
  ingestOwnWebhook: {
    params: { tenant_slug: string; webhook_id: string }
    query: Record<never, never>
    body: unknown
    response: Published
  }
}

export type TokenRequest = {
  api_key: string
}

export type TokenResponse = {
  /** A JWT that lives one hour, less where its key expires sooner. */
  access_token: string
  token_type: 'Bearer'
  expires_at: string
  /** Seconds until then. */
  expires_in: number
  /** The agent the key belongs to; null for an org-admin key. */
  agent: Agent | null
}

export type AgentList = {
  agents: Agent[]
  total: number
}

export type AgentCreate = {
  name: string
  description?: string | null
  delivery_mode: 'poll' | 'push' | 'sse'
  client_type: string
  team_id?: string | null
  /** The waits after failed pushes 1, 2, 3 and so on, in seconds; the last repeats. Null: the default. */
  retry_schedule_seconds?: number[] | null
  /** The id in a system of yours: one thing of its kind in the tenant has it. */
  external_id?: string
}

export type Agent = {
  id: string
  tenant_id: string
  /** The id in a system of yours: one thing of its kind in the tenant has it. */
  external_id?: string
  name: string
  description: string | null
  status: 'active' | 'inactive'
  delivery_mode: 'poll' | 'push' | 'sse'
  delivery_endpoint?: string | null
  /** A paused agent is handed nothing; its events wait. */
  paused: boolean
  /** The waits after failed pushes 1, 2, 3 and so on, in seconds; the last repeats. Null: the default. */
  retry_schedule_seconds: number[] | null
  /** One of the configured chat clients, or `other`. */
  client_type: string
  team_id: string | null
  created_at: string
  updated_at: string
}

export type AgentUpdate = {
  name?: string
  description?: string | null
  delivery_mode?: 'poll' | 'push' | 'sse'
  delivery_endpoint?: string | null
  /** The waits after failed pushes 1, 2, 3 and so on, in seconds; the last repeats. Null: the default. */
  retry_schedule_seconds?: number[] | null
}

export type AgentDeactivated = {
  status: 'inactive'
}

export type AgentActivated = {
  status: 'active'
}

export type AgentPaused = {
  paused: boolean
}

export type AgentResumed = {
  paused: boolean
}

export type KeyList = {
  keys: ApiKey[]
}

export type ApiKey = {
  id: string
  /** The leading characters of the key. */
  prefix: string
  scopes: (
    | 'send'
    | 'receive'
    | 'memory:read'
    | 'memory:write'
    | 'admin'
    | 'channel:read'
    | 'channel:write'
    | 'interests:read'
    | 'interests:write'
  )[]
  expires_at: string | null
  created_at: string
  last_used_at: string | null
}

export type KeyMint = {
  scopes: (
    | 'send'
    | 'receive'
    | 'memory:read'
    | 'memory:write'
    | 'admin'
    | 'channel:read'
    | 'channel:write'
    | 'interests:read'
    | 'interests:write'
  )[]
  expires_at?: string | null
}

export type MintedKey = {
  id: string
  /** The leading characters of the key. */
  prefix: string
  scopes: (
    | 'send'
    | 'receive'
    | 'memory:read'
    | 'memory:write'
    | 'admin'
    | 'channel:read'
    | 'channel:write'
    | 'interests:read'
    | 'interests:write'
  )[]
  expires_at: string | null
  created_at: string
  /** The plaintext. Shown here once and never again. */
  key: string
}

/** A CloudEvents 1.0 envelope; extension attributes are kept as they came. */
export type Event = {
  specversion: '1.0'
  /** Printable characters without spaces. */
  type: string
  source: string
  /** The deduplication key, unique in the tenant. */
  id: string
  time?: string
  datacontenttype?: string
  subject?: string
  /** An agent, or a channel that the sender is a member of. The agent, or every other member, receives the event besides whoever matches. */
  recipient?: string
  /** The `recipient` that a reply to this event should have. Kept as it came. */
  replyto?: string
  /** What a reply belongs to: the `correlationid` of the question, or its id if it has none. Kept as it came. */
  correlationid?: string
  /** Any JSON. Filters are evaluated against it. */
  data?: unknown
  [extension: string]: unknown
}

export type Published = {
  event_id: string
  status: 'accepted' | 'duplicate'
  /** How many deliveries were made; only with `accepted`. */
  recipients?: number
}

/** One result for each event of the batch, in its order. */
export type BatchResults = {
  results: (Published | RefusedEvent)[]
}

export type RefusedEvent = {
  error: {
    code: string
    message: string
    details: Record<string, unknown>
  }
}

export type Trace = {
  event: Event | null
  deliveries: Receipt[]
}

export type Receipt = {
  delivery_id: string
  /** The recipient. */
  agent_id: string
  state: 'pending' | 'leased' | 'acknowledged' | 'dead_lettered'
  /** How often it was delivered. */
  attempts: number
  matched: Matched[]
  created_at: string
  first_attempt_at: string | null
  acknowledged_at: string | null
  dead_lettered_at: string | null
  dlq_reason: string | null
}

/** What made a delivery: an interest, a channel feed, the `recipient` of the event (`id` is the agent or channel that it names), or a test event sent to the agent. */
export type Matched = {
  kind: 'interest' | 'feed' | 'recipient' | 'test_event'
  id: string | null
  channel_id?: string
}

export type ExplainRequest = {
  event: Record<string, unknown>
  agent_id?: string
}

export type Explanation = {
  recipients: {
    agent_id: string
    via: Matched[]
    priority: number
  }[]
  agent?: {
    agent_id: string
    receives: boolean
    reasons: Reason[]
  }
}

export type Reason = {
  kind: 'agent' | 'interest' | 'feed' | 'recipient'
  id: string
  channel_id?: string
  matches: boolean
  type_matches?: boolean
  filter?: string | null
  explanation: string
}

export type TestEventSent = {
  event_id: string
  [extension: string]: unknown
}

export type EventTypeList = {
  types: EventType[]
  total: number
}

export type EventType = {
  type: string
  /** Events accepted within the retention time, by whole days. */
  count: number
  /** When the last one was accepted. */
  last_at: string
  /** Active agents and org-admins with an interest or feed whose pattern matches, whatever its filter says. */
  listeners: number
}

export type EventList = {
  events: EventSummary[]
  total: number
  /** Null where everything was looked through. */
  searched_back_to: string | null
}

/** An event without its payload. */
export type EventSummary = {
  id: string
  type: string
  source: string
  subject: string | null
  /** As the event says it. Null where it says none, and of an event over 16 KiB. */
  time: string | null
  /** When it was accepted. */
  received_at: string
  /** The agent or org-admin that published it, or the webhook or connector it came through. */
  sender: string
  /** How many deliveries there are of it. Null where that is too many to count in passing. */
  recipients: number | null
  /** The first 200 characters of its data as JSON. Null where it has none, and of an event over 16 KiB. */
  snippet: string | null
}

export type DeliveryList = {
  deliveries: Delivery[]
  count: number
}

export type Delivery = {
  id: string
  event_id: string
  /** The CloudEvents envelope, as it was published. */
  payload: Record<string, unknown>
  attempt_count: number
  created_at: string
}

export type AckRequest = {
  delivery_ids: string[]
}

export type Acknowledged = {
  acknowledged: number
}

export type NackRequest = {
  delivery_ids: string[]
  retry_after_seconds?: number
  reason?: string
  dead_letter?: boolean
}

export type GivenBack = {
  nacked: number
}

export type ExtendRequest = {
  delivery_ids: string[]
  seconds: number
}

export type Extended = {
  extended: number
}

export type DeadLetterList = {
  dlq_items: DeadLetter[]
  total: number
}

export type DeadLetter = {
  id: string
  event_id: string
  agent_id: string
  attempt_count: number
  dlq_reason: string
  payload: Record<string, unknown>
  created_at: string
  dead_lettered_at: string
}

export type Replayed = {
  status: 'replayed'
  delivery_id: string
}

export type RecentEventList = {
  events: RecentEvent[]
}

export type RecentEvent = {
  event_id: string
  delivery_id: string
  type: string
  source: string
  subject: string | null
  time: string | null
  data?: unknown
  acknowledged_at: string
}

export type Queue = {
  /** Waiting to be delivered. */
  pending: number
  leased: number
  dead_lettered: number
  oldest_pending_at: string | null
  last_poll_at: string | null
  /** How the endpoint of a `push` agent has been responding, as this node knows it. */
  push?: PushState
}

/** How the endpoint of a `push` agent has been responding, as this node knows it. */
export type PushState = {
  /** The circuit breaker: `open` leaves the endpoint alone for a while, `half_open` tries one request. */
  state: 'closed' | 'open' | 'half_open'
  consecutive_failures: number
  last_status: number | null
  last_error: string | null
  last_success_at: string | null
  /** A moving mean. */
  latency_ms: number | null
}

/** Either `delivery_ids` or `filter`. */
export type DeadLetterChoice = {
  delivery_ids?: string[]
  /** What all of them have in common; an empty one is all of them. */
  filter?: DeadLetterFilter
  /** With `filter`: how many at most, the newest. */
  limit?: number
  /** Counts what would be done and does nothing. */
  dry_run?: boolean
}

/** What all of them have in common; an empty one is all of them. */
export type DeadLetterFilter = {
  /** A pattern over event types, as in an interest: `*`, `?`, `[a-z]`. */
  event_type?: string
  /** Its recipient. An agent finds its own alone. */
  agent_id?: string
  /** A part of `dlq_reason`, whatever the case. */
  reason?: string
  /** Dead-lettered then or later. */
  since?: string
  /** Dead-lettered then or earlier. */
  until?: string
}

export type DeadLettersReplayed = {
  matched: number
  replayed: number
}

export type DeadLettersDiscarded = {
  matched: number
  discarded: number
}

/** The 20 largest of each. `reason` is the last error, or else the reason without its numbers: each works as the `reason` of a filter. Of more than 20,000 dead letters the newest are grouped. */
export type DeadLetterSummary = {
  total: number
  by_reason: {
    reason: string
    count: number
  }[]
  by_event_type: {
    event_type: string
    count: number
  }[]
  by_agent: {
    agent_id: string
    count: number
  }[]
}

export type PushSecret = {
  /** The HMAC key is what the text behind `whsec_` decodes to from base64. */
  push_secret: string
}

export type Stats = {
  minutes: StatsMinute[]
}

export type StatsMinute = {
  /** When the minute began. */
  at: string
  events: number
  deliveries: number
  acknowledgements: number
  failures: number
  dead_letters: number
}

export type LiveStats = {
  at: string
  /** The time that the counts are of, usually 1. */
  seconds: number
  /** Accepted. */
  events: number
  /** Put into mailboxes. */
  deliveries: number
  acknowledgements: number
  /** Deliveries given back, failed pushes, and leases that ran out; the latter count when the delivery is delivered again or dead-lettered. */
  failures: number
  dead_letters: number
  /** Deliveries that wait in mailboxes, neither leased nor dead-lettered. Past 10,000 an estimate. */
  backlog: number
  /** The age of the oldest of them. */
  oldest_waiting_seconds: number | null
  /** Events of that second that this stream did not show: more than 200 a second, or more than it could read. */
  left_out: number
}

export type AuditList = {
  entries: AuditEntry[]
  total: number
}

export type AuditEntry = {
  id: string
  at: string
  /** The agent or org-admin, or `operator`. */
  actor: string
  /** The operation, by its name in this document. */
  action: string
  /** What was made or changed. */
  resource: string | null
  request_id: string | null
  /** Parameters and fields of the request, never a secret; `actor_key_id` is the API key that was used. */
  details: Record<string, unknown>
}

export type InterestList = {
  interests: Interest[]
}

export type Interest = {
  id: string
  tenant_id: string
  agent_id: string
  event_type: string
  /** A CEL predicate over the event: `data` is its data, `event` the envelope, a bare name a field of the data. */
  filter_expression: string | null
  priority: number
  enrichment_depth: 'none' | 'light' | 'full'
  active: boolean
  created_at: string
  updated_at: string
}

export type InterestCreate = {
  /** `*` any run of characters, `?` one, `[a-z]` a class, `\` escapes. Case-sensitive, whole type. */
  event_type: string
  /** A CEL predicate over the event: `data` is its data, `event` the envelope, a bare name a field of the data. */
  filter_expression?: string | null
  priority: number
  enrichment_depth: 'none' | 'light' | 'full'
  /** Deliver this many of the newest events that match, oldest first, before the response. */
  backfill?: number
}

export type ChannelList = {
  channels: Channel[]
  total: number
}

export type Channel = {
  id: string
  tenant_id: string
  /** The id in a system of yours: one thing of its kind in the tenant has it. */
  external_id?: string
  name: string
  description: string | null
  /** `open`: every agent of the tenant sees it and may join and leave. `private`: only its members and org-admins see it. `direct`: as private, with at most 2 members. */
  type: 'open' | 'private' | 'direct'
  created_by_type: 'agent' | 'org_admin'
  created_by_id: string
  created_at: string
  updated_at: string
}

export type ChannelCreate = {
  name: string
  description?: string | null
  /** `open`: every agent of the tenant sees it and may join and leave. `private`: only its members and org-admins see it. `direct`: as private, with at most 2 members. */
  type: 'open' | 'private' | 'direct'
  /** The id in a system of yours: one thing of its kind in the tenant has it. */
  external_id?: string
}

export type MemberList = {
  members: Member[]
}

export type Member = {
  id: string
  channel_id: string
  participant_type: 'agent' | 'org_admin'
  participant_id: string
  role: 'owner' | 'admin' | 'member'
  joined_at: string
}

export type MemberAdd = {
  participant_type: 'agent' | 'org_admin'
  participant_id: string
  role?: 'owner' | 'admin' | 'member'
}

export type FeedList = {
  feeds: Feed[]
}

export type Feed = {
  id: string
  channel_id: string
  event_type_glob: string
  /** A CEL predicate over the event: `data` is its data, `event` the envelope, a bare name a field of the data. */
  filter_expression: string | null
  active: boolean
  created_at: string
}

export type FeedCreate = {
  /** `*` any run of characters, `?` one, `[a-z]` a class, `\` escapes. Case-sensitive, whole type. */
  event_type_glob: string
  /** A CEL predicate over the event: `data` is its data, `event` the envelope, a bare name a field of the data. */
  filter_expression?: string | null
}

export type MemoryList = {
  memories: Memory[]
  total: number
}

export type Memory = {
  id: string
  tenant_id: string
  /** Its owner. */
  agent_id: string
  /** Of a memory with scope `team`, null otherwise. */
  team_id: string | null
  project_id: string | null
  type: 'episodic' | 'semantic' | 'procedural' | 'entity' | 'reflection' | 'reasoning'
  /** `agent`: its owner alone. `team`: agents of that team. `institutional`: the whole tenant. */
  scope: 'agent' | 'team' | 'institutional'
  status: 'active' | 'deleted' | 'expired'
  title: string
  content: string
  /** How certain it is. */
  confidence: number
  /** How much it matters; independent of confidence. */
  importance: number
  metadata: Record<string, unknown>
  source_type: string | null
  source_id: string | null
  source_url: string | null
  /** The event it derives from. */
  source_event_id: string | null
  /** The id in a system of yours: one live memory of its owner has it. */
  external_id?: string
  /** When what it says was last known to be true. */
  freshness_date: string | null
  expires_at: string | null
  created_at: string
  updated_at: string
  /** When it was last fetched or found by a semantic search. */
  accessed_at: string
}

export type MemoryCreate = {
  type: 'episodic' | 'semantic' | 'procedural' | 'entity' | 'reflection' | 'reasoning'
  /** `agent`: its owner alone. `team`: agents of that team. `institutional`: the whole tenant. */
  scope: 'agent' | 'team' | 'institutional'
  title: string
  content: string
  /** For scope `team`; left out, the team of the token. Other scopes keep none. */
  team_id?: string | null
  project_id?: string | null
  confidence?: number
  importance?: number
  metadata?: Record<string, unknown>
  source_type?: string | null
  source_id?: string | null
  source_url?: string | null
  /** The event it derives from. */
  source_event_id?: string | null
  /** The id in a system of yours: one live memory of its owner has it. */
  external_id?: string
  /** When what it says was last known to be true. */
  freshness_date?: string | null
  expires_at?: string | null
}

export type CreatedMemory = {
  id: string
  tenant_id: string
  /** Its owner. */
  agent_id: string
  /** Of a memory with scope `team`, null otherwise. */
  team_id: string | null
  project_id: string | null
  type: 'episodic' | 'semantic' | 'procedural' | 'entity' | 'reflection' | 'reasoning'
  /** `agent`: its owner alone. `team`: agents of that team. `institutional`: the whole tenant. */
  scope: 'agent' | 'team' | 'institutional'
  status: 'active' | 'deleted' | 'expired'
  title: string
  content: string
  /** How certain it is. */
  confidence: number
  /** How much it matters; independent of confidence. */
  importance: number
  metadata: Record<string, unknown>
  source_type: string | null
  source_id: string | null
  source_url: string | null
  /** The event it derives from. */
  source_event_id: string | null
  /** The id in a system of yours: one live memory of its owner has it. */
  external_id?: string
  /** When what it says was last known to be true. */
  freshness_date: string | null
  expires_at: string | null
  created_at: string
  updated_at: string
  /** When it was last fetched or found by a semantic search. */
  accessed_at: string
  /** Memories that say nearly the same (a likeness above 0.92), likest first, to merge instead of piling up. Only where there are some, and they could be found at once. */
  similar?: {
    id: string
    score: number
  }[]
}

export type MemorySearch = {
  /** Natural language. */
  query: string
  /** `agent`: its owner alone. `team`: agents of that team. `institutional`: the whole tenant. */
  scope?: 'agent' | 'team' | 'institutional'
  type?: 'episodic' | 'semantic' | 'procedural' | 'entity' | 'reflection' | 'reasoning'
  limit?: number
  min_confidence?: number
  /** Results with a lower score are left out. A score is about the chance that a person would call the result relevant. */
  min_score?: number
  project_id?: string
  source_event_id?: string
  created_after?: string
  created_before?: string
  /** Members that the metadata has, with exactly these values. */
  metadata?: Record<string, unknown>
  /** Adds `signals` to each result. */
  explain?: boolean
}

export type SearchResults = {
  results: SearchResult[]
  total: number
}

export type SearchResult = {
  memory: Memory
  score: number
  /** What the score is made of, each 0 to 1. The signals may change; the keys beside them do not. */
  signals?: SearchSignals
}

/** What the score is made of, each 0 to 1. The signals may change; the keys beside them do not. */
export type SearchSignals = {
  similarity: number
  lexical: number
  confidence: number
  recency: number
  importance: number
  /** How strongly another result contradicts it; only where one does. */
  contradicted?: number
}

export type MemoryUpdate = {
  title?: string
  content?: string
  confidence?: number
  importance?: number
  /** Replaces what was there. */
  metadata?: Record<string, unknown>
  expires_at?: string | null
  /** When what it says was last known to be true. */
  freshness_date?: string | null
}

export type MemoryPromote = {
  scope: 'team' | 'institutional'
  /** Required for `team`, refused for `institutional`. */
  team_id?: string | null
}

export type MemoryHistory = {
  versions: MemoryVersion[]
}

export type MemoryVersion = {
  /** Version 1 is the memory as it was created. */
  version: number
  changed_at: string
  /** The agent or org-admin who made this version. */
  changed_by: string
  /** What this version changed, with the new values. Of the oldest version that is kept, all fields. */
  fields: Record<string, unknown>
}

export type MemoryRestore = {
  version: number
}

export type SimilarMemories = {
  results: SearchResult[]
}

export type MemoryMerge = {
  memory_ids: string[]
}

export type ImportedMemories = {
  created: number
  updated: number
  /** Lines that changed nothing. */
  skipped: number
  /** Lines that were refused. */
  failed: number
  /** The first 1,000 of those that were refused, with the number of the line. */
  errors: {
    line: number
    error: {
      code: string
      message: string
      details: Record<string, unknown>
    }
  }[]
}

export type RelationshipCreate = {
  target_memory_id: string
  relationship_type: 'caused_by' | 'related_to' | 'contradicts' | 'supports' | 'derived_from' | 'part_of'
  strength?: number
  metadata?: Record<string, unknown> | null
}

export type Relationship = {
  id: string
  tenant_id: string
  source_memory_id: string
  target_memory_id: string
  relationship_type: 'caused_by' | 'related_to' | 'contradicts' | 'supports' | 'derived_from' | 'part_of'
  strength: number
  metadata: Record<string, unknown> | null
  created_at: string
}

export type Traversal = {
  relationships: RelatedMemory[]
  count: number
}

/** A memory reached by a traversal, with the last relationship of the path to it. */
export type RelatedMemory = {
  relationship: Relationship
  memory: Memory
  depth: number
  /** The product of the strengths along the path. */
  cumulative_strength: number
}

export type TenantCreate = {
  slug: string
  name?: string
}

export type TenantCreated = {
  tenant: Tenant
  /** An org-admin API key. Shown here once and never again. */
  admin_key: string
}

export type Tenant = {
  id: string
  slug: string
  name: string
  created_at: string
}

export type TenantList = {
  tenants: Tenant[]
  total: number
}

export type AdminKeyCreated = {
  /** An org-admin API key. Shown here once and never again. */
  admin_key: string
}

export type AdminKeyList = {
  keys: AdminKey[]
}

export type AdminKey = {
  id: string
  /** The leading characters of the key. */
  prefix: string
  created_at: string
  last_used_at: string | null
}

/** Null is the default: the environment variable, and no quota. */
export type TenantSettings = {
  /** How long a lease lasts, in seconds. */
  visibility_timeout_s: number | null
  /** Attempts before a delivery is dead-lettered. */
  max_attempts: number | null
  /** The waits after failed pushes, in seconds; the last repeats. */
  push_retry_s: number[] | null
  /** How long acknowledged deliveries and their events are kept. */
  retention_days: number | null
  /** Requests of one agent in a window. */
  rate_limit_agent: number | string | null
  /** Requests of the whole tenant in a window. */
  rate_limit_tenant: number | string | null
  /** Agents, inactive ones included. */
  quota_agents: number | null
  /** Interests of all agents together. */
  quota_interests: number | null
  /** Memories that are not deleted. */
  quota_memories: number | null
  /** Bytes of retained events, and of memories that are not erased. */
  quota_stored_bytes: number | null
  /** Events accepted in a day (UTC). */
  quota_events_per_day: number | null
}

/** Null is the default: the environment variable, and no quota. */
export type TenantSettingsUpdate = {
  /** How long a lease lasts, in seconds. */
  visibility_timeout_s?: number | null
  /** Attempts before a delivery is dead-lettered. */
  max_attempts?: number | null
  /** The waits after failed pushes, in seconds; the last repeats. */
  push_retry_s?: number[] | null
  /** How long acknowledged deliveries and their events are kept. */
  retention_days?: number | null
  /** Requests of one agent in a window. */
  rate_limit_agent?: number | string | null
  /** Requests of the whole tenant in a window. */
  rate_limit_tenant?: number | string | null
  /** Agents, inactive ones included. */
  quota_agents?: number | null
  /** Interests of all agents together. */
  quota_interests?: number | null
  /** Memories that are not deleted. */
  quota_memories?: number | null
  /** Bytes of retained events, and of memories that are not erased. */
  quota_stored_bytes?: number | null
  /** Events accepted in a day (UTC). */
  quota_events_per_day?: number | null
}

export type Usage = {
  tenant: string
  days: UsageDay[]
}

export type UsageDay = {
  date: string
  events: number
  deliveries: number
  acknowledgements: number
  memories: number
  searches: number
}

/** `source` may be left out with a `preset`, whose name it then is. */
export type WebhookCreate = {
  tenant: string
  /** What the types of its events begin with: `com.<source>.…`. */
  source?: string
  /** The mapping and the signature header of a well-known provider. */
  preset?: 'github' | 'stripe'
  /** CEL over `body` and `headers` (names in lower case); `subject` may also read `entity`, `action` and `id`, and `data` may read `compact`, the short block that a preset makes of the body. What is left out is the default shown as its example. */
  mapping?: IngestMapping
  /** The secret of a provider that makes its own, such as Stripe; where it is left out one is made. */
  signing_secret?: string
}

/** CEL over `body` and `headers` (names in lower case); `subject` may also read `entity`, `action` and `id`, and `data` may read `compact`, the short block that a preset makes of the body. What is left out is the default shown as its example. */
export type IngestMapping = {
  entity?: string
  action?: string
  id?: string
  subject?: string
  data?: string
}

export type WebhookCreated = {
  webhook: Webhook
  url: string
  /** The signing secret. Shown here once and never again. */
  signing_secret: string
}

export type Webhook = {
  id: string
  tenant: string
  source: string
  /** CEL over `body` and `headers` (names in lower case); `subject` may also read `entity`, `action` and `id`, and `data` may read `compact`, the short block that a preset makes of the body. What is left out is the default shown as its example. */
  mapping: IngestMapping
  /** The mapping and the signature header of a well-known provider. */
  preset?: 'github' | 'stripe'
  /** Where the provider posts to. */
  url: string
  /** The address of this webhook alone: its secret is the only one tried, whatever the size of the body. */
  own_url: string
  active: boolean
  created_at: string
}

export type WebhookList = {
  webhooks: Webhook[]
  total: number
}

export type WebhookRotate = {
  /** The secret of a provider that makes its own, such as Stripe; where it is left out one is made. */
  signing_secret?: string
}

export type WebhookRotated = {
  webhook: Webhook
  /** The signing secret. Shown here once and never again. */
  signing_secret: string
}

export type ConnectorCreate = {
  tenant: string
  /** What the types of its events begin with: `com.<source>.…`. */
  source: string
  /** The broker with user and password; a path names the virtual host. Kept encrypted. */
  url: string
  /** What to receive from, as the broker spells it; for RabbitMQ 3 `/amq/queue/<name>` is a queue that exists. */
  address: string
  /** How many messages may be on their way to the store at once. */
  credit?: number
  /** CEL over `body` and `headers` (names in lower case); `subject` may also read `entity`, `action` and `id`, and `data` may read `compact`, the short block that a preset makes of the body. What is left out is the default shown as its example. */
  mapping?: IngestMapping
  /** Trusted instead of the system’s authorities, for amqps. */
  tls_ca?: string
}

export type ConnectorResponse = {
  connector: Connector
}

export type Connector = {
  id: string
  tenant: string
  /** What it speaks with its broker, as the scheme of the URL says. */
  kind: 'amqp'
  source: string
  /** The broker, its user and password left out. */
  url: string
  address: string
  credit: number
  /** CEL over `body` and `headers` (names in lower case); `subject` may also read `entity`, `action` and `id`, and `data` may read `compact`, the short block that a preset makes of the body. What is left out is the default shown as its example. */
  mapping: IngestMapping
  /** `starting`: not connected yet. `reconnecting`: the connection was lost or refused. `failed`: the broker turned the connector away, for its credentials, its address or a certificate; it is still tried again, at most every 30 seconds. */
  state: 'starting' | 'running' | 'paused' | 'failed' | 'reconnecting'
  last_error: string | null
  counters: {
    received: number
    /** Stored, duplicates included. */
    accepted: number
    duplicates: number
    /** Given back to the broker, because the store could not take them. */
    released: number
    /** Refused: neither JSON nor a CloudEvent. */
    rejected: number
  }
  last_message_at: string | null
  created_at: string
}

export type ConnectorList = {
  connectors: Connector[]
  total: number
}
