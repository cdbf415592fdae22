// Which rules of the domain each operation may find broken: its 422. What each rule says is in docs/reference.md; a test
// holds the two together.

export const RULES: Readonly<Record<string, readonly string[]>> = {
  publishEvent: ['agent_inactive', 'not_a_member', 'causation_too_deep', 'reserved_event_id', 'quota_exceeded'],
  explainEvent: ['agent_inactive', 'not_a_member'],
  registerAgent: ['quota_exceeded'],
  putAgent: ['quota_exceeded'],
  putChannel: ['channel_type_fixed', 'role_required'],
  createMemory: ['quota_exceeded'],
  ingestWebhook: ['quota_exceeded'],
  ingestOwnWebhook: ['quota_exceeded'],
  sendTestEvent: ['agent_inactive'],
  createInterest: ['self_only', 'interest_conflict', 'too_many_interests', 'quota_exceeded'],
  deleteInterest: ['self_only'],
  addMember: ['role_required', 'direct_channel_full'],
  removeMember: ['role_required', 'last_owner'],
  createFeed: ['role_required', 'too_many_feeds'],
  deleteFeed: ['role_required'],
  updateMemory: ['not_owner'],
  deleteMemory: ['not_owner'],
  putMemory: ['scope_only_widens', 'quota_exceeded'],
  restoreMemory: ['not_owner'],
  promoteMemory: ['not_owner', 'scope_only_widens'],
  createRelationship: ['self_relationship'],
  deleteRelationship: ['not_owner'],
  revokeAdminKey: ['last_admin_key'],
  createWebhook: ['too_many_webhooks'],
}
