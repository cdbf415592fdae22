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
      '`open`: every agent of the tenant can see, join and leave the channel. `private`: only members and org-admins can see it. ' +
      `\`direct\`: like private, with at most ${DIRECT_MEMBERS} members.`,
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

const ListedChannel = Type.Object(
  {
    ...Channel.properties,
    member: Type.Optional(
      Type.Boolean({ description: 'Whether the caller is a member. Only if `membership` was requested.' }),
    ),
  },
  { $id: 'ListedChannel' },
)
export type ListedChannel = Static<typeof ListedChannel>

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
    description: 'An agent sees open channels and the channels that it is a member of. An org-admin sees all channels.',
    tag,
    method: 'GET',
    path: '/channels',
    access: reading,
    query: Type.Object({
      ...page,
      membership: Type.Optional(
        Type.Boolean({
          default: false,
          examples: [true],
          description: 'Whether each channel has `member`, which says whether the caller is a member of it.',
        }),
      ),
    }),
    success: {
      200: {
        description: 'A page of channels',
        schema: Type.Object({ channels: Type.Array(ListedChannel), total: Type.Integer() }, { $id: 'ChannelList' }),
      },
    },
  }),
  createChannel: operation({
    id: 'createChannel',
    audit: ['name', 'type'],
    summary: 'Create a channel',
    description: 'The caller becomes the first member, with the role `owner`.',
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
    summary: 'Create or update a channel by its external id',
    description:
      'Creates the channel if no channel has this external id. Otherwise replaces its name and description with those of the body; only `owner` and `admin` members and org-admins can do that. The type cannot be changed (422 `channel_type_fixed`). Repeating the request changes nothing.',
    tag,
    method: 'PUT',
    path: '/channels/by-external-id/{external_id}',
    access: writing,
    body: ChannelCreate,
    success: {
      200: { description: 'The channel, updated or unchanged', schema: Channel },
      201: { description: 'The new channel; the caller is its owner', schema: Channel },
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
      'Deletes the channel with its memberships and feeds. Only owners of the channel and org-admins can delete it; other callers get 422 `role_required`. Events that were delivered through the channel stay in the mailboxes.',
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
      '`owner` and `admin` members and org-admins can add members; an `admin` member cannot add an `owner`. ' +
      'Any agent can add itself to an open channel, as a `member`. The new member receives events published from now on.',
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
      'Any member can leave. `owner` and `admin` members and org-admins can remove other members; an `admin` member cannot ' +
      'remove an `owner`. The last owner cannot leave or be removed.',
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
      'Every matching event published from now on is delivered to every member of the channel. `owner` and `admin` members and ' +
      'org-admins can create feeds; in an open channel every member can.',
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
    description: 'Only `owner` and `admin` members and org-admins can delete a feed.',
    tag,
    method: 'DELETE',
    path: '/channels/{id}/feeds/{feed_id}',
    access: writing,
    success: { 204: { description: 'Deleted' } },
  }),
} as const
