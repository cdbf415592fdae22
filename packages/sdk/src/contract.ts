// Generated from the contract by `npm run openapi`. Edit packages/contract instead; a test compares the two.

/** The method and path of each operation. */
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

/** The path parameters, query, body and response of each operation. */
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
      offset?: number | undefined
      limit?: number | undefined
      status?: 'active' | 'inactive' | undefined
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
  /** Register or update an agent by its external id: PUT /v1/agents/by-external-id/{external_id} */
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
  /** Get an event and its receipts: GET /v1/events/{id} */
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
  /** List event types, latest first: GET /v1/events/types */
  listEventTypes: {
    params: Record<never, never>
    query: {
      offset?: number | undefined
      limit?: number | undefined
    }
    body: undefined
    response: EventTypeList
  }
  /** Search the events of the tenant, newest first: GET /v1/events */
  listEvents: {
    params: Record<never, never>
    query: {
      /** A pattern over event types, as in an interest: `*`, `?`, `[a-z]`. */
      type?: string | undefined
      subject?: string | undefined
      source?: string | undefined
      id?: string | undefined
      sender?: string | undefined
      causationid?: string | undefined
      /** Accepted at or after this time. */
      since?: string | undefined
      /** Accepted at or before this time. */
      until?: string | undefined
      offset?: number | undefined
      limit?: number | undefined
    }
    body: undefined
    response: EventList
  }
  /** Poll the mailbox: GET /v1/delivery/poll */
  pollDeliveries: {
    params: Record<never, never>
    query: {
      /** Values above 100 are treated as 100. */
      limit?: number | undefined
      /** How many seconds to wait for a delivery to become due. */
      wait?: number | undefined
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
  /** Extend leases: POST /v1/delivery/extend */
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
      offset?: number | undefined
      limit?: number | undefined
      /** A pattern over event types, as in an interest: `*`, `?`, `[a-z]`. */
      event_type?: string | undefined
      /** The id of the recipient. An agent can only find its own dead letters. */
      agent_id?: string | undefined
      /** A substring of `dlq_reason`, case-insensitive. */
      reason?: string | undefined
      /** Dead-lettered at or after this time. */
      since?: string | undefined
      /** Dead-lettered at or before this time. */
      until?: string | undefined
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
  /** List the events that an agent acknowledged most recently: GET /v1/agents/{id}/events */
  listRecentEvents: {
    params: { id: string }
    query: {
      /** Values above 100 are treated as 100. */
      limit?: number | undefined
    }
    body: undefined
    response: RecentEventList
  }
  /** Get the queue health of an agent: GET /v1/agents/{id}/queue */
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
  /** Create a new push secret: POST /v1/agents/{id}/push-secret */
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
      max_in_flight?: number | undefined
    }
    body: undefined
    response: string
  }
  /** Get the activity of the tenant by minute: GET /v1/stats */
  getStats: {
    params: Record<never, never>
    query: {
      minutes?: number | undefined
    }
    body: undefined
    response: Stats
  }
  /** Watch the tenant live: GET /v1/live */
  streamLive: {
    params: Record<never, never>
    query: {
      /** A pattern over event types, as in an interest: `*`, `?`, `[a-z]`. */
      type?: string | undefined
      /** A CEL expression over the event, as in an interest. */
      filter?: string | undefined
    }
    body: undefined
    response: string
  }
  /** List the audit log, newest first: GET /v1/audit */
  listAudit: {
    params: Record<never, never>
    query: {
      actor?: string | undefined
      action?: string | undefined
      since?: string | undefined
      until?: string | undefined
      offset?: number | undefined
      limit?: number | undefined
    }
    body: undefined
    response: AuditList
  }
  /** List the audit log of a tenant, newest first: GET /operator/tenants/{slug}/audit */
  listTenantAudit: {
    params: { slug: string }
    query: {
      actor?: string | undefined
      action?: string | undefined
      since?: string | undefined
      until?: string | undefined
      offset?: number | undefined
      limit?: number | undefined
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
      offset?: number | undefined
      limit?: number | undefined
      /** Whether each channel has `member`, which says whether the caller is a member of it. */
      membership?: boolean | undefined
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
  /** Create or update a channel by its external id: PUT /v1/channels/by-external-id/{external_id} */
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
      offset?: number | undefined
      limit?: number | undefined
      type?: 'episodic' | 'semantic' | 'procedural' | 'entity' | 'reflection' | 'reasoning' | undefined
      scope?: 'agent' | 'team' | 'institutional' | undefined
      project_id?: string | undefined
      /** Only the owner and org-admins can list `deleted` and `expired` memories. */
      status?: 'active' | 'deleted' | 'expired' | undefined
      created_after?: string | undefined
      created_before?: string | undefined
      /** A literal substring of the title or the content, case-insensitive. Not a semantic search. */
      search?: string | undefined
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
      /** Erases the memory. Only for org-admins. */
      erase?: boolean | undefined
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
  /** Create or update a memory by its external id: PUT /v1/memories/by-external-id/{external_id} */
  putMemory: {
    params: { external_id: string }
    query: Record<never, never>
    body: MemoryCreate
    response: Memory
  }
  /** List the versions of a memory, newest first: GET /v1/memories/{id}/history */
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
  /** Find similar memories: GET /v1/memories/{id}/similar */
  findSimilarMemories: {
    params: { id: string }
    query: {
      limit?: number | undefined
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
      /** Exports only memories updated at or after this time, and relationships that were created or changed then or whose source or target was. To bring a copy up to date, use a time five minutes before the previous export: a change is dated when it is begun. */
      since?: string | undefined
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
  /** Create a relationship from a memory to another: POST /v1/memories/{id}/relationships */
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
      /** Values below 1 are treated as 1, values above 3 as 3. */
      depth?: number | undefined
      /** Which relationships to follow: outgoing, incoming or both. */
      direction?: 'out' | 'in' | 'both' | undefined
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
      offset?: number | undefined
      limit?: number | undefined
    }
    body: undefined
    response: TenantList
  }
  /** Create another org-admin key: POST /operator/tenants/{slug}/admin-keys */
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
  /** Get the settings of a tenant: GET /operator/tenants/{slug}/settings */
  getTenantSettings: {
    params: { slug: string }
    query: Record<never, never>
    body: undefined
    response: TenantSettings
  }
  /** Update the settings of a tenant: PATCH /operator/tenants/{slug}/settings */
  updateTenantSettings: {
    params: { slug: string }
    query: Record<never, never>
    body: TenantSettingsUpdate
    response: TenantSettings
  }
  /** Get the usage of a tenant by day: GET /operator/usage */
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
      tenant?: string | undefined
      offset?: number | undefined
      limit?: number | undefined
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
  /** Delete a webhook; its secret is no longer accepted: DELETE /operator/webhooks/{id} */
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
      tenant?: string | undefined
      offset?: number | undefined
      limit?: number | undefined
    }
    body: undefined
    response: ConnectorList
  }
  /** Pause a connector: POST /operator/connectors/{id}/pause */
  pauseConnector: {
    params: { id: string }
    query: Record<never, never>
    body: undefined
    response: ConnectorResponse
  }
  /** Resume a paused connector: POST /operator/connectors/{id}/resume */
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
  /** Send an external event: POST /ingest/w/{tenant_slug} */
  ingestWebhook: {
    params: { tenant_slug: string }
    query: Record<never, never>
    body: unknown
    response: Published
  }
  /** Send an external event to one webhook: POST /ingest/w/{tenant_slug}/{webhook_id} */
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
  /** A JWT. It is valid for one hour, or until its key expires if that is sooner. */
  access_token: string
  token_type: 'Bearer'
  expires_at: string
  /** Seconds until the token expires. */
  expires_in: number
  /** The agent that the key belongs to; null for an org-admin key. */
  agent: Agent | null
}

export type AgentList = {
  agents: Agent[]
  total: number
}

export type AgentCreate = {
  name: string
  description?: string | null | undefined
  delivery_mode: 'poll' | 'push' | 'sse'
  client_type: string
  team_id?: string | null | undefined
  /** The delays before push retries, in seconds: after the first failed push, the second, and so on. The last delay repeats. Null means the default schedule. */
  retry_schedule_seconds?: number[] | null | undefined
  /** The id in another system of yours, unique among resources of the same kind in the tenant. */
  external_id?: string | undefined
}

export type Agent = {
  id: string
  tenant_id: string
  /** The id in another system of yours, unique among resources of the same kind in the tenant. */
  external_id?: string
  name: string
  description: string | null
  status: 'active' | 'inactive'
  delivery_mode: 'poll' | 'push' | 'sse'
  /** Where pushes go. A user and password in it are shown to the agent itself (with `receive`) and to org-admins; others see `***` in their place. */
  delivery_endpoint?: string | null
  /** While true, nothing is delivered to the agent and its events wait in the mailbox. */
  paused: boolean
  /** The delays before push retries, in seconds: after the first failed push, the second, and so on. The last delay repeats. Null means the default schedule. */
  retry_schedule_seconds: number[] | null
  /** One of the configured chat clients, or `other`. */
  client_type: string
  team_id: string | null
  created_at: string
  updated_at: string
}

export type AgentUpdate = {
  name?: string | undefined
  description?: string | null | undefined
  delivery_mode?: 'poll' | 'push' | 'sse' | undefined
  /** Where pushes go. A user and password in it are shown to the agent itself (with `receive`) and to org-admins; others see `***` in their place. */
  delivery_endpoint?: string | null | undefined
  /** The delays before push retries, in seconds: after the first failed push, the second, and so on. The last delay repeats. Null means the default schedule. */
  retry_schedule_seconds?: number[] | null | undefined
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
  /** The first 12 characters of the key. */
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
  expires_at?: string | null | undefined
}

export type MintedKey = {
  id: string
  /** The first 12 characters of the key. */
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
  /** The API key in plaintext. It is shown only in this response. */
  key: string
}

/** A CloudEvents 1.0 envelope. Extension attributes are stored unchanged. */
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
  /** The id of an agent, or of a channel that the sender is a member of. The agent, or every other member of the channel, receives the event in addition to the recipients with a matching interest or feed. */
  recipient?: string
  /** The `recipient` that a reply to this event should have. Stored unchanged. */
  replyto?: string
  /** In a reply: the `correlationid` of the question, or the id of the question if it has none. Stored unchanged. */
  correlationid?: string
  /** Any JSON. Filters are evaluated against it. */
  data?: unknown
  [extension: string]: unknown
}

export type Published = {
  event_id: string
  status: 'accepted' | 'duplicate'
  /** The number of deliveries that were created; only with `accepted`. */
  recipients?: number
}

/** One result for each event of the batch, in the same order. */
export type BatchResults = {
  results: (Published | RefusedEvent)[]
}

export type RefusedEvent = {
  error: {
    code: string
    message: string
    details: Record<string, unknown>
    request_id: string
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
  /** The number of delivery attempts. */
  attempts: number
  matched: Matched[]
  created_at: string
  first_attempt_at: string | null
  acknowledged_at: string | null
  dead_lettered_at: string | null
  dlq_reason: string | null
  /** Why the last attempt failed, while the delivery is pending or leased. */
  last_error: string | null
  /** When a pending delivery is due again; null if it is due already. */
  next_attempt_at: string | null
}

/** The cause of a delivery: an interest, a channel feed, the `recipient` of the event (`id` is the agent or channel that it names), or a test event sent to the agent. */
export type Matched = {
  kind: 'interest' | 'feed' | 'recipient' | 'test_event'
  id: string | null
  channel_id?: string
}

export type ExplainRequest = {
  event: Record<string, unknown>
  agent_id?: string | undefined
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
  /** Absent unless it is the caller's own, or the caller may list it (`interests:read`, for a feed `channel:read`). */
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
  /** Events accepted within the retention time, in whole days. */
  count: number
  /** When the last event of this type was accepted. */
  last_at: string
  /** Active agents and org-admins with an interest or feed whose pattern matches the type, regardless of its filter. */
  listeners: number
}

export type EventList = {
  events: EventSummary[]
  total: number
  /** The time that the search reached; null if it covered everything. */
  searched_back_to: string | null
}

/** An event without its payload. */
export type EventSummary = {
  id: string
  type: string
  source: string
  subject: string | null
  /** The `time` of the event. Null if the event has none or is larger than 16 KiB. */
  time: string | null
  /** When the event was accepted. */
  received_at: string
  /** The id of the agent or org-admin that published the event, or of the webhook or connector that it came through. */
  sender: string
  /** The number of deliveries of the event. Null if there are too many to count quickly. */
  recipients: number | null
  /** The first 200 characters of the data as JSON. Null if the event has no data or is larger than 16 KiB. */
  snippet: string | null
}

export type DeliveryList = {
  deliveries: Delivery[]
  count: number
}

export type Delivery = {
  id: string
  event_id: string
  /** The published event with its extension attributes, and what the service adds. */
  payload: DeliveredEvent
  attempt_count: number
  created_at: string
}

/** The published event with its extension attributes, and what the service adds. */
export type DeliveredEvent = {
  specversion: '1.0'
  /** Printable characters without spaces. */
  type: string
  source: string
  /** The deduplication key, unique in the tenant. */
  id: string
  time?: string
  datacontenttype?: string
  subject?: string
  /** The id of an agent, or of a channel that the sender is a member of. The agent, or every other member of the channel, receives the event in addition to the recipients with a matching interest or feed. */
  recipient?: string
  /** The `recipient` that a reply to this event should have. Stored unchanged. */
  replyto?: string
  /** In a reply: the `correlationid` of the question, or the id of the question if it has none. Stored unchanged. */
  correlationid?: string
  /** Any JSON. Filters are evaluated against it. */
  data?: unknown
  /** What the receiver remembers about the event, if an interest of it asks for that. */
  enrichment?: Enrichment
  /** The body that came through a webhook or connector, before it was mapped. */
  original?: unknown
  [extension: string]: unknown
}

/** What the receiver remembers about the event, if an interest of it asks for that. */
export type Enrichment = {
  depth: 'light' | 'full'
  /** The most relevant first. */
  memories: {
    id: string
    title: string
    score: number
    /** Only with the depth `full`. */
    content?: string
    /** Only with the depth `full`. The strongest first. */
    relationships?: Relationship[]
  }[]
  /** Only with the depth `full`. Earlier events with the same subject that this agent was sent, latest first. */
  recent_events?: {
    event_id: string
    type: string
    source: string
    time: string | null
    data?: unknown
  }[]
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

export type AckRequest = {
  delivery_ids: string[]
}

export type Acknowledged = {
  acknowledged: number
}

export type NackRequest = {
  delivery_ids: string[]
  retry_after_seconds?: number | undefined
  reason?: string | undefined
  dead_letter?: boolean | undefined
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
  /** A CloudEvents 1.0 envelope. Extension attributes are stored unchanged. */
  payload: Event
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
  /** Deliveries that wait to be delivered. */
  pending: number
  leased: number
  dead_lettered: number
  oldest_pending_at: string | null
  last_poll_at: string | null
  /** How the endpoint of a `push` agent has been responding, as known to this node. */
  push?: PushState
}

/** How the endpoint of a `push` agent has been responding, as known to this node. */
export type PushState = {
  /** The state of the circuit breaker. `open`: nothing is sent to the endpoint for a while. `half_open`: one request is tried. */
  state: 'closed' | 'open' | 'half_open'
  consecutive_failures: number
  last_status: number | null
  last_error: string | null
  last_success_at: string | null
  /** The moving average of the response time. */
  latency_ms: number | null
}

/** Set either `delivery_ids` or `filter`. */
export type DeadLetterChoice = {
  delivery_ids?: string[] | undefined
  /** Selects the dead letters that match every given field. An empty filter selects all of them. */
  filter?: DeadLetterFilter | undefined
  /** With `filter`: the maximum number of dead letters. The newest are taken. */
  limit?: number | undefined
  /** Only counts the dead letters that match; nothing is changed. */
  dry_run?: boolean | undefined
}

/** Selects the dead letters that match every given field. An empty filter selects all of them. */
export type DeadLetterFilter = {
  /** A pattern over event types, as in an interest: `*`, `?`, `[a-z]`. */
  event_type?: string | undefined
  /** The id of the recipient. An agent can only find its own dead letters. */
  agent_id?: string | undefined
  /** A substring of `dlq_reason`, case-insensitive. */
  reason?: string | undefined
  /** Dead-lettered at or after this time. */
  since?: string | undefined
  /** Dead-lettered at or before this time. */
  until?: string | undefined
}

export type DeadLettersReplayed = {
  matched: number
  replayed: number
}

export type DeadLettersDiscarded = {
  matched: number
  discarded: number
}

/** The 20 largest counts of each kind. `reason` is the last error if there is one, otherwise the reason without its numbers; each can be used as the `reason` of a filter. If there are more than 20,000 dead letters, only the newest are grouped. */
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
  /** To get the HMAC key, decode the text after `whsec_` from base64. */
  push_secret: string
}

export type Stats = {
  minutes: StatsMinute[]
}

export type StatsMinute = {
  /** The start of the minute. */
  at: string
  events: number
  deliveries: number
  acknowledgements: number
  failures: number
  dead_letters: number
}

export type LiveStats = {
  at: string
  /** The length of the period that the counts cover, usually 1. */
  seconds: number
  /** Events accepted. */
  events: number
  /** Deliveries put into mailboxes. */
  deliveries: number
  acknowledgements: number
  /** Deliveries given back, failed pushes, and lapsed leases. A lapsed lease counts when its delivery is delivered again or dead-lettered. */
  failures: number
  dead_letters: number
  /** Deliveries that wait in mailboxes, neither leased nor dead-lettered. Exact up to 10,000, an estimate beyond that. */
  backlog: number
  /** The age of the oldest waiting delivery; null if none is waiting. */
  oldest_waiting_seconds: number | null
  /** How many of `backlog` wait for the org-admin, who has a mailbox but is no agent. */
  org_admin_backlog: number
  /** The age of the oldest of those; null if none is waiting. */
  org_admin_oldest_waiting_seconds: number | null
  /** Events that this stream did not show: more than 200 a second, or more than the service could examine or the client could read. */
  left_out: number
}

export type AuditList = {
  entries: AuditEntry[]
  total: number
}

export type AuditEntry = {
  id: string
  at: string
  /** The id of the agent or org-admin that made the change, or `operator`. */
  actor: string
  /** The id of the operation in the OpenAPI document. */
  action: string
  /** The id of the resource that was created or changed. */
  resource: string | null
  request_id: string | null
  /** Parameters and fields of the request, never a secret. `actor_key_id` is the id of the API key that was used. Long texts and lists are cut; `left_out` names what did not fit. */
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
  /** A CEL predicate over the event: `data` is the data of the event, `event` is the envelope, and a bare name is a field of the data. */
  filter_expression: string | null
  priority: number
  enrichment_depth: 'none' | 'light' | 'full'
  active: boolean
  created_at: string
  updated_at: string
}

export type InterestCreate = {
  /** `*` matches any run of characters, `?` one character, `[a-z]` a character class; `\` escapes. Case-sensitive; the whole type must match. */
  event_type: string
  /** A CEL predicate over the event: `data` is the data of the event, `event` is the envelope, and a bare name is a field of the data. */
  filter_expression?: string | null | undefined
  priority: number
  enrichment_depth: 'none' | 'light' | 'full'
  /** Also delivers up to this many of the newest matching events, oldest first, before the response. */
  backfill?: number | undefined
}

export type ChannelList = {
  channels: ListedChannel[]
  total: number
}

export type ListedChannel = {
  id: string
  tenant_id: string
  /** The id in another system of yours, unique among resources of the same kind in the tenant. */
  external_id?: string
  name: string
  description: string | null
  /** `open`: every agent of the tenant can see, join and leave the channel. `private`: only members and org-admins can see it. `direct`: like private, with at most 2 members. */
  type: 'open' | 'private' | 'direct'
  created_by_type: 'agent' | 'org_admin'
  created_by_id: string
  created_at: string
  updated_at: string
  /** Whether the caller is a member. Only if `membership` was requested. */
  member?: boolean
}

export type ChannelCreate = {
  name: string
  description?: string | null | undefined
  /** `open`: every agent of the tenant can see, join and leave the channel. `private`: only members and org-admins can see it. `direct`: like private, with at most 2 members. */
  type: 'open' | 'private' | 'direct'
  /** The id in another system of yours, unique among resources of the same kind in the tenant. */
  external_id?: string | undefined
}

export type Channel = {
  id: string
  tenant_id: string
  /** The id in another system of yours, unique among resources of the same kind in the tenant. */
  external_id?: string
  name: string
  description: string | null
  /** `open`: every agent of the tenant can see, join and leave the channel. `private`: only members and org-admins can see it. `direct`: like private, with at most 2 members. */
  type: 'open' | 'private' | 'direct'
  created_by_type: 'agent' | 'org_admin'
  created_by_id: string
  created_at: string
  updated_at: string
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
  role?: 'owner' | 'admin' | 'member' | undefined
}

export type FeedList = {
  feeds: Feed[]
}

export type Feed = {
  id: string
  channel_id: string
  event_type_glob: string
  /** A CEL predicate over the event: `data` is the data of the event, `event` is the envelope, and a bare name is a field of the data. */
  filter_expression: string | null
  active: boolean
  created_at: string
}

export type FeedCreate = {
  /** `*` matches any run of characters, `?` one character, `[a-z]` a character class; `\` escapes. Case-sensitive; the whole type must match. */
  event_type_glob: string
  /** A CEL predicate over the event: `data` is the data of the event, `event` is the envelope, and a bare name is a field of the data. */
  filter_expression?: string | null | undefined
}

export type MemoryList = {
  memories: Memory[]
  total: number
}

export type Memory = {
  id: string
  tenant_id: string
  /** The id of the owner. */
  agent_id: string
  /** The team, for scope `team`; otherwise null. */
  team_id: string | null
  project_id: string | null
  type: 'episodic' | 'semantic' | 'procedural' | 'entity' | 'reflection' | 'reasoning'
  /** `agent`: only the owner sees it. `team`: the agents of the team. `institutional`: the whole tenant. */
  scope: 'agent' | 'team' | 'institutional'
  status: 'active' | 'deleted' | 'expired'
  title: string
  content: string
  /** How certain the memory is. */
  confidence: number
  /** How much the memory matters, independent of its confidence. */
  importance: number
  metadata: Record<string, unknown>
  source_type: string | null
  source_id: string | null
  source_url: string | null
  /** The id of the event that the memory derives from. */
  source_event_id: string | null
  /** The id in another system of yours, unique among the live memories of the owner. */
  external_id?: string
  /** When the content was last known to be true. */
  freshness_date: string | null
  expires_at: string | null
  created_at: string
  updated_at: string
  /** When the memory was last fetched or found by a semantic search. */
  accessed_at: string
}

export type MemoryCreate = {
  type: 'episodic' | 'semantic' | 'procedural' | 'entity' | 'reflection' | 'reasoning'
  /** `agent`: only the owner sees it. `team`: the agents of the team. `institutional`: the whole tenant. */
  scope: 'agent' | 'team' | 'institutional'
  title: string
  content: string
  /** For scope `team`; defaults to the team of the token. Ignored with other scopes. */
  team_id?: string | null | undefined
  project_id?: string | null | undefined
  confidence?: number | undefined
  importance?: number | undefined
  metadata?: Record<string, unknown> | undefined
  source_type?: string | null | undefined
  source_id?: string | null | undefined
  source_url?: string | null | undefined
  /** The id of the event that the memory derives from. */
  source_event_id?: string | null | undefined
  /** The id in another system of yours, unique among the live memories of the owner. */
  external_id?: string | undefined
  /** When the content was last known to be true. */
  freshness_date?: string | null | undefined
  expires_at?: string | null | undefined
}

export type CreatedMemory = {
  id: string
  tenant_id: string
  /** The id of the owner. */
  agent_id: string
  /** The team, for scope `team`; otherwise null. */
  team_id: string | null
  project_id: string | null
  type: 'episodic' | 'semantic' | 'procedural' | 'entity' | 'reflection' | 'reasoning'
  /** `agent`: only the owner sees it. `team`: the agents of the team. `institutional`: the whole tenant. */
  scope: 'agent' | 'team' | 'institutional'
  status: 'active' | 'deleted' | 'expired'
  title: string
  content: string
  /** How certain the memory is. */
  confidence: number
  /** How much the memory matters, independent of its confidence. */
  importance: number
  metadata: Record<string, unknown>
  source_type: string | null
  source_id: string | null
  source_url: string | null
  /** The id of the event that the memory derives from. */
  source_event_id: string | null
  /** The id in another system of yours, unique among the live memories of the owner. */
  external_id?: string
  /** When the content was last known to be true. */
  freshness_date: string | null
  expires_at: string | null
  created_at: string
  updated_at: string
  /** When the memory was last fetched or found by a semantic search. */
  accessed_at: string
  /** Memories that say nearly the same (similarity above 0.92), most similar first, so that you can merge them. Only present if there are any and they were found quickly. */
  similar?: {
    id: string
    score: number
  }[]
}

export type MemorySearch = {
  /** A query in natural language. */
  query: string
  /** `agent`: only the owner sees it. `team`: the agents of the team. `institutional`: the whole tenant. */
  scope?: 'agent' | 'team' | 'institutional' | undefined
  type?: 'episodic' | 'semantic' | 'procedural' | 'entity' | 'reflection' | 'reasoning' | undefined
  limit?: number | undefined
  min_confidence?: number | undefined
  /** Results with a lower score are left out. A score is roughly the probability that a person would call the result relevant. */
  min_score?: number | undefined
  project_id?: string | undefined
  source_event_id?: string | undefined
  created_after?: string | undefined
  created_before?: string | undefined
  /** Finds only memories whose metadata has these members with exactly these values. */
  metadata?: Record<string, unknown> | undefined
  /** Adds `signals` to each result. */
  explain?: boolean | undefined
}

export type SearchResults = {
  results: SearchResult[]
  total: number
}

export type SearchResult = {
  memory: Memory
  score: number
  /** The signals behind the score, each 0 to 1. Those that do not apply are left out. Signals may change; the other fields of a result do not. */
  signals?: SearchSignals
}

/** The signals behind the score, each 0 to 1. Those that do not apply are left out. Signals may change; the other fields of a result do not. */
export type SearchSignals = {
  similarity: number
  lexical: number
  /** How similar its tokens are to those of the query. */
  tokens?: number
  /** Its similarity to the query moved towards its best answers. */
  feedback?: number
  confidence: number
  recency: number
  importance: number
  /** How far its only word of the query counts as held in passing. */
  in_passing?: number
  /** The share that it loses because the query names another time. */
  other_time?: number
  /** How strongly another result contradicts this one. */
  contradicted?: number
  /** The score of the rerank service. */
  reranked?: number
}

export type MemoryUpdate = {
  title?: string | undefined
  content?: string | undefined
  confidence?: number | undefined
  importance?: number | undefined
  /** Replaces the existing metadata. */
  metadata?: Record<string, unknown> | undefined
  expires_at?: string | null | undefined
  /** When the content was last known to be true. */
  freshness_date?: string | null | undefined
}

export type MemoryPromote = {
  scope: 'team' | 'institutional'
  /** Required for `team`, refused for `institutional`. */
  team_id?: string | null | undefined
}

export type MemoryHistory = {
  versions: MemoryVersion[]
}

export type MemoryVersion = {
  /** Version 1 is the memory as it was created. */
  version: number
  changed_at: string
  /** The id of the agent or org-admin that made this version. */
  changed_by: string
  /** The fields that this version changed, with their new values. The oldest version that is kept has all fields. */
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
  /** The first 1,000 refused lines, with their line numbers. */
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
  strength?: number | undefined
  metadata?: Record<string, unknown> | null | undefined
}

export type Traversal = {
  relationships: RelatedMemory[]
  count: number
}

/** A memory reached by a traversal, with the last relationship on the path to it. */
export type RelatedMemory = {
  relationship: Relationship
  memory: Memory
  depth: number
  /** The product of the strengths along the path. */
  cumulative_strength: number
}

export type TenantCreate = {
  slug: string
  name?: string | undefined
}

export type TenantCreated = {
  tenant: Tenant
  /** An org-admin API key. It is shown only in this response. */
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
  /** An org-admin API key. It is shown only in this response. */
  admin_key: string
}

export type AdminKeyList = {
  keys: AdminKey[]
}

export type AdminKey = {
  id: string
  /** The first 12 characters of the key. */
  prefix: string
  created_at: string
  last_used_at: string | null
}

/** Null means the default: the value of the environment variable, or no quota. */
export type TenantSettings = {
  /** How long a lease lasts, in seconds. */
  visibility_timeout_s: number | null
  /** The number of attempts before a delivery is dead-lettered. */
  max_attempts: number | null
  /** The delays before push retries, in seconds. The last delay repeats. */
  push_retry_s: number[] | null
  /** How many days acknowledged deliveries and their events are kept. */
  retention_days: number | null
  /** The maximum number of requests of one agent in a window. */
  rate_limit_agent: number | string | null
  /** The maximum number of requests of the whole tenant in a window. */
  rate_limit_tenant: number | string | null
  /** The maximum number of agents, including inactive ones. */
  quota_agents: number | null
  /** The maximum number of interests of all agents and feeds of all channels together. */
  quota_interests: number | null
  /** The maximum number of memories that are not deleted. */
  quota_memories: number | null
  /** The maximum number of bytes of retained events, of memories that are not erased, and of their relationships. */
  quota_stored_bytes: number | null
  /** The maximum number of events accepted in a day (UTC). */
  quota_events_per_day: number | null
}

/** Null means the default: the value of the environment variable, or no quota. */
export type TenantSettingsUpdate = {
  /** How long a lease lasts, in seconds. */
  visibility_timeout_s?: number | null | undefined
  /** The number of attempts before a delivery is dead-lettered. */
  max_attempts?: number | null | undefined
  /** The delays before push retries, in seconds. The last delay repeats. */
  push_retry_s?: number[] | null | undefined
  /** How many days acknowledged deliveries and their events are kept. */
  retention_days?: number | null | undefined
  /** The maximum number of requests of one agent in a window. */
  rate_limit_agent?: number | string | null | undefined
  /** The maximum number of requests of the whole tenant in a window. */
  rate_limit_tenant?: number | string | null | undefined
  /** The maximum number of agents, including inactive ones. */
  quota_agents?: number | null | undefined
  /** The maximum number of interests of all agents and feeds of all channels together. */
  quota_interests?: number | null | undefined
  /** The maximum number of memories that are not deleted. */
  quota_memories?: number | null | undefined
  /** The maximum number of bytes of retained events, of memories that are not erased, and of their relationships. */
  quota_stored_bytes?: number | null | undefined
  /** The maximum number of events accepted in a day (UTC). */
  quota_events_per_day?: number | null | undefined
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

/** `source` is required unless `preset` names a provider, which is the source then. */
export type WebhookCreate = {
  tenant: string
  /** The name of the source, used in the event types: `com.<source>.…`. */
  source?: string | undefined
  /** The mapping and the signature header of a well-known provider, or of any that follows Standard Webhooks (`standard`). */
  preset?: 'github' | 'stripe' | 'standard' | undefined
  /** CEL expressions over `body` and `headers` (names in lower case). `subject` can also use `entity`, `action` and `id`, and `data` can use `compact`, the short block that a preset makes of the body. The default of each expression is shown as its example. */
  mapping?: IngestMapping | undefined
  /** The secret of a provider that creates its own, such as Stripe. If it is left out, a secret is generated. */
  signing_secret?: string | undefined
}

/** CEL expressions over `body` and `headers` (names in lower case). `subject` can also use `entity`, `action` and `id`, and `data` can use `compact`, the short block that a preset makes of the body. The default of each expression is shown as its example. */
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
  /** The signing secret. It is shown only in this response. */
  signing_secret: string
}

export type Webhook = {
  id: string
  tenant: string
  source: string
  /** CEL expressions over `body` and `headers` (names in lower case). `subject` can also use `entity`, `action` and `id`, and `data` can use `compact`, the short block that a preset makes of the body. The default of each expression is shown as its example. */
  mapping: IngestMapping
  /** The mapping and the signature header of a well-known provider, or of any that follows Standard Webhooks (`standard`). */
  preset?: 'github' | 'stripe' | 'standard'
  /** The URL that providers post to. All webhooks of the tenant share it. */
  url: string
  /** The URL of this webhook alone. Only the secrets of this webhook are tried, whatever the size of the body. */
  own_url: string
  active: boolean
  created_at: string
}

export type WebhookList = {
  webhooks: Webhook[]
  total: number
}

export type WebhookRotate = {
  /** The secret of a provider that creates its own, such as Stripe. If it is left out, a secret is generated. */
  signing_secret?: string | undefined
}

export type WebhookRotated = {
  webhook: Webhook
  /** The signing secret. It is shown only in this response. */
  signing_secret: string
}

export type ConnectorCreate = {
  tenant: string
  /** The name of the source, used in the event types: `com.<source>.…`. */
  source: string
  /** The URL of the broker, with user and password. A path names the virtual host. Stored encrypted. */
  url: string
  /** The address to receive from, in the notation of the broker. For RabbitMQ 3, `/amq/queue/<name>` is an existing queue. */
  address: string
  /** How many messages may be in flight to the store at once. */
  credit?: number | undefined
  /** CEL expressions over `body` and `headers` (names in lower case). `subject` can also use `entity`, `action` and `id`, and `data` can use `compact`, the short block that a preset makes of the body. The default of each expression is shown as its example. */
  mapping?: IngestMapping | undefined
  /** For amqps: certificates to trust instead of the system’s certificate authorities. */
  tls_ca?: string | undefined
}

export type ConnectorResponse = {
  connector: Connector
}

export type Connector = {
  id: string
  tenant: string
  /** The protocol between the connector and its broker, selected by the scheme of the URL. */
  kind: 'amqp'
  source: string
  /** The URL of the broker, without user and password. */
  url: string
  address: string
  credit: number
  /** CEL expressions over `body` and `headers` (names in lower case). `subject` can also use `entity`, `action` and `id`, and `data` can use `compact`, the short block that a preset makes of the body. The default of each expression is shown as its example. */
  mapping: IngestMapping
  /** `starting`: not connected yet. `reconnecting`: the connection was lost or refused. `failed`: the broker refused the connector because of its credentials, its address or a certificate; it is still retried, at most every 30 seconds. */
  state: 'starting' | 'running' | 'paused' | 'failed' | 'reconnecting'
  last_error: string | null
  counters: {
    received: number
    /** Messages that were stored, including duplicates. */
    accepted: number
    duplicates: number
    /** Messages returned to the broker because the store could not accept them. */
    released: number
    /** Messages that were refused, for example because they are neither JSON nor a CloudEvent. */
    rejected: number
  }
  last_message_at: string | null
  created_at: string
}

export type ConnectorList = {
  connectors: Connector[]
  total: number
}
