// The directory: agents and channels.
import { isId, operations, Type } from '@sensorium/contract'
import { agentOnly } from '../agent-only.ts'
import { hinted, isRefusal } from '../refusal.ts'
import { idArgument, tool } from '../tool.ts'

const NO_MEMBER = 'An org-admin leaves a channel through the API; use the key of an agent'

const page = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'The most to list' })),
  offset: Type.Optional(Type.Integer({ minimum: 0, description: 'How many to skip' })),
}

const unknownChannel = hinted({ channel: 'channel_id is an id from list_channels' })

export const directoryTools = [
  tool({
    name: 'list_agents',
    title: 'List agents',
    description: 'List the agents of your organisation, newest first. `you` is the agent that you are yourself.',
    input: Type.Object(page),
    output: Type.Object({
      you: Type.Optional(
        Type.Object({
          id: Type.String(),
          name: Type.String(),
          team_id: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
        }),
      ),
      agents: Type.Array(Type.Unknown()),
      total: Type.Integer(),
    }),
    effect: 'reads',
    async run({ limit = 20, offset = 0 }, { id: ownId, call }) {
      const found = await call(operations.listAgents, { query: { limit, offset } })
      const agents = found.agents.map(({ id, name, description, status, team_id }) => ({
        id,
        name,
        description,
        status,
        team_id,
      }))
      // An org-admin is no agent.
      if (!isId('agent', ownId)) return { agents, total: found.total }
      const listed = agents.find(({ id }) => id === ownId)
      const { name, team_id } = listed ?? (await call(operations.getAgent, { params: { id: ownId } }))
      return { you: { id: ownId, name, team_id }, agents, total: found.total }
    },
  }),
  tool({
    name: 'list_channels',
    title: 'List channels',
    description:
      'List the channels that you can see: the open ones, and the private and direct ones that you are a member of. A channel delivers messages posted to it, and events that match its feeds, to its members. member says whether you are a member; join_channel makes you one of an open channel.',
    input: Type.Object(page),
    output: Type.Object({ channels: Type.Array(Type.Unknown()), total: Type.Integer() }),
    effect: 'reads',
    async run({ limit = 20, offset = 0 }, { call }) {
      const found = await call(operations.listChannels, { query: { limit, offset, membership: true } })
      const channels = found.channels.map(({ id, name, description, type, member }) => ({
        id,
        name,
        description,
        type,
        member,
      }))
      return { channels, total: found.total }
    },
  }),
  tool({
    name: 'join_channel',
    title: 'Join a channel',
    description:
      'Become a member of an open channel: you receive what is posted to it and what its feeds match, and may post to it. To a private channel its owner adds you.',
    input: Type.Object({ channel_id: idArgument('chn', 'id of a channel from list_channels') }),
    output: Type.Object({
      channel_id: Type.String(),
      member: Type.Boolean(),
      was_member: Type.Boolean({ description: 'Whether you were a member before' }),
    }),
    effect: 'sets',
    async run({ channel_id }, { id, call }) {
      const body = { participant_type: 'agent', participant_id: id }
      try {
        await call(operations.addMember, { params: { id: channel_id }, body })
        return { channel_id, member: true, was_member: false }
      } catch (error) {
        if (!isRefusal(error) || error.code !== 'conflict') return unknownChannel(error)
        return { channel_id, member: true, was_member: true }
      }
    },
  }),
  tool({
    name: 'leave_channel',
    title: 'Leave a channel',
    description:
      'Stop being a member of a channel: you receive nothing more through it. The last owner of a channel cannot leave it.',
    input: Type.Object({ channel_id: idArgument('chn', 'id of a channel from list_channels') }),
    output: Type.Object({
      channel_id: Type.String(),
      member: Type.Boolean(),
      was_member: Type.Boolean({ description: 'Whether you were a member before' }),
    }),
    effect: 'removes',
    async run({ channel_id }, { id, call }) {
      const params = { id: channel_id, participant_type: 'agent', participant_id: agentOnly(id, NO_MEMBER) }
      try {
        await call(operations.removeMember, { params })
        return { channel_id, member: false, was_member: true }
      } catch (error) {
        // Whoever has left a private channel does not see it any more.
        if (!isRefusal(error) || error.code !== 'not_found') throw error
        return { channel_id, member: false, was_member: false }
      }
    },
  }),
]
