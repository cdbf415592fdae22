// Channels: their members, and the feeds that deliver events to all members.
import { filterText, globText } from './interests.ts'
import { operation } from './operation.ts'
import { Type, type Static, dateTime, externalId, filledText, id, nullableText, oneOf, page } from './shapes.ts'

export const CHANNEL_TYPES = ['open', 'private', 'direct'] as const
export const PARTICIPANT_TYPES = ['agent', 'org_admin'] as const
export const MEMBER_ROLES = ['owner', 'admin', 'member'] as const
/** A direct channel is a conversation between two members. */
export const DIRECT_MEMBERS = 2

export type ChannelType = (typeof CHANNEL_TYPES)[number]
export type ParticipantType = (typeof PARTICIPANT_TYPES)[number]
export type MemberRole = (typeof MEMBER_ROLES)[number]

const channelType = () =>
  oneOf(CHANNEL_TYPES, {
    description:
      '`open`: every agent of the tenant sees it and may join and leave. `private`: only its members and org-admins see it. ' +
      `\`direct\`: as private, with at most ${DIRECT_MEMBERS} members.`,
  })

export const Channel = Type.Object(
  {
    id: id('chn'),
    tenant_id: id('ten'),
    external_id: Type.Optional(externalId()),
    name: Type.String({ examples: ['Incidents'] }),
    description: nullableText(4096, { examples: ['What is broken right now.'] }),
    type: channelType(),
    created_by_type: oneOf(PARTICIPANT_TYPES),
    created_by_id: id('agt'),
    created_at: dateTime(),
    updated_at: dateTime(),
  },
  { $id: 'Channel' },
)
export type Channel = Static<typeof Channel>

export const ChannelCreate = Type.Object(
  {
    name: filledText(255, { examples: ['Incidents'] }),
    description: Type.Optional(nullableText(4096)),
    type: channelType(),
    external_id: Type.Optional(externalId()),
  },
  { $id: 'ChannelCreate' },
)

export const Member = Type.Object(
  {
    id: id('mbr'),
    channel_id: id('chn'),
    participant_type: oneOf(PARTICIPANT_TYPES),
    participant_id: id('agt'),
    role: oneOf(MEMBER_ROLES),
    joined_at: dateTime(),
  },
  { $id: 'Member' },
)
export type Member = Static<typeof Member>

export const MemberAdd = Type.Object(
  {
    participant_type: oneOf(PARTICIPANT_TYPES),
    participant_id: filledText(255, {
      expected: 'the id of an agent or of the org-admin',
      examples: ['agt_01hv3k8z9q4m7t2x5c6w8r0s1d'],
    }),
    role: Type.Optional(oneOf(MEMBER_ROLES, { default: 'member', examples: ['member'] })),
  },
  { $id: 'MemberAdd' },
)

export const Feed = Type.Object(
  {
    id: id('fed'),
    channel_id: id('chn'),
    event_type_glob: Type.String({ examples: ['com.example.order.*'] }),
    filter_expression: filterText(),
    active: Type.Boolean(),
    created_at: dateTime(),
  },
  { $id: 'Feed' },
)
export type Feed = Static<typeof Feed>

export const FeedCreate = Type.Object(
  { event_type_glob: globText(), filter_expression: Type.Optional(filterText()) },
  { $id: 'FeedCreate' },
)

const tag = 'Channels'
const reading = { scope: 'channel:read' } as const
const writing = { scope: 'channel:write' } as const

export const channelOperations = {
  listChannels: operation({
    id: 'listChannels',
    summary: 'List channels, newest first',
    description: 'An agent sees the open ones and those it is a member of, an org-admin all.',
    tag,
    method: 'GET',
    path: '/channels',
    access: reading,
    query: Type.Object({ ...page }),
    success: {
      200: {
        description: 'A page of channels',
        schema: Type.Object({ channels: Type.Array(Channel), total: Type.Integer() }, { $id: 'ChannelList' }),
      },
    },
  }),
  createChannel: operation({
    id: 'createChannel',
    audit: ['name', 'type'],
    summary: 'Create a channel',
    description: 'The caller becomes its first member, with the role `owner`.',
    tag,
    method: 'POST',
    path: '/channels',
    access: writing,
    body: ChannelCreate,
    success: { 201: { description: 'The channel', schema: Channel } },
  }),
  putChannel: operation({
    id: 'putChannel',
    audit: ['name', 'type'],
    summary: 'Create or change a channel by its external id',
    description:
      'Gives the channel the name and description of the body, for its owners and admins; it keeps its type (422 `channel_type_fixed`). Doing it twice changes nothing.',
    tag,
    method: 'PUT',
    path: '/channels/by-external-id/{external_id}',
    access: writing,
    body: ChannelCreate,
    success: {
      200: { description: 'The channel, changed or as it was', schema: Channel },
      201: { description: 'The new channel, of which the caller is the owner', schema: Channel },
    },
  }),
  getChannel: operation({
    id: 'getChannel',
    summary: 'Get a channel',
    tag,
    method: 'GET',
    path: '/channels/{id}',
    access: reading,
    success: { 200: { description: 'The channel', schema: Channel } },
  }),
  deleteChannel: operation({
    id: 'deleteChannel',
    audit: [],
    summary: 'Delete a channel',
    description:
      'With its members and feeds. For its owners and org-admins; others get 422 `role_required`. What was delivered through it stays in the mailboxes.',
    tag,
    method: 'DELETE',
    path: '/channels/{id}',
    access: { scope: 'channel:write' },
    success: { 204: { description: 'Deleted' } },
  }),
  listMembers: operation({
    id: 'listMembers',
    summary: 'List the members of a channel, newest first',
    tag,
    method: 'GET',
    path: '/channels/{id}/members',
    access: reading,
    success: {
      200: { description: 'The members', schema: Type.Object({ members: Type.Array(Member) }, { $id: 'MemberList' }) },
    },
  }),
  addMember: operation({
    id: 'addMember',
    audit: ['participant_type', 'participant_id', 'role'],
    summary: 'Add a member to a channel',
    description:
      'For its `owner` and `admin` members and for org-admins; an `admin` member makes no `owner`. ' +
      'Any agent may add itself to an open channel, as a `member`. The new member receives what is published from now on.',
    tag,
    method: 'POST',
    path: '/channels/{id}/members',
    access: writing,
    body: MemberAdd,
    success: { 201: { description: 'The member', schema: Member } },
  }),
  removeMember: operation({
    id: 'removeMember',
    audit: [],
    summary: 'Remove a member from a channel, or leave it',
    description:
      'Any member may leave. Removing others is for `owner` and `admin` members and for org-admins; an `admin` member removes ' +
      'no `owner`. The last owner stays.',
    tag,
    method: 'DELETE',
    path: '/channels/{id}/members/{participant_type}/{participant_id}',
    access: writing,
    success: { 204: { description: 'Removed' } },
  }),
  listFeeds: operation({
    id: 'listFeeds',
    summary: 'List the feeds of a channel, newest first',
    tag,
    method: 'GET',
    path: '/channels/{id}/feeds',
    access: reading,
    success: {
      200: { description: 'The feeds', schema: Type.Object({ feeds: Type.Array(Feed) }, { $id: 'FeedList' }) },
    },
  }),
  createFeed: operation({
    id: 'createFeed',
    audit: ['event_type_glob', 'filter_expression'],
    summary: 'Create a feed',
    description:
      'Every event published from now on that matches goes to every member of the channel. For `owner` and `admin` members and for ' +
      'org-admins; in an open channel for every member.',
    tag,
    method: 'POST',
    path: '/channels/{id}/feeds',
    access: writing,
    body: FeedCreate,
    success: { 201: { description: 'The feed', schema: Feed } },
  }),
  deleteFeed: operation({
    id: 'deleteFeed',
    audit: [],
    summary: 'Delete a feed',
    description: 'For `owner` and `admin` members and for org-admins.',
    tag,
    method: 'DELETE',
    path: '/channels/{id}/feeds/{feed_id}',
    access: writing,
    success: { 204: { description: 'Deleted' } },
  }),
} as const
