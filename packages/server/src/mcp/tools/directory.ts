// The directory: agents and channels.
import { operations, Type } from '@sensorium/contract'
import { tool } from '../tool.ts'

const page = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
  offset: Type.Optional(Type.Integer({ minimum: 0 })),
}

export const directoryTools = [
  tool({
    name: 'list_agents',
    title: 'List agents',
    description: 'List the agents of your organisation, newest first.',
    input: Type.Object(page),
    output: Type.Object({ agents: Type.Array(Type.Unknown()), total: Type.Integer() }),
    effect: 'reads',
    async run({ limit = 20, offset = 0 }, { call }) {
      const found = await call(operations.listAgents, { query: { limit, offset } })
      const agents = found.agents.map(({ id, name, description, status, team_id }) => ({
        id,
        name,
        description,
        status,
        team_id,
      }))
      return { agents, total: found.total }
    },
  }),
  tool({
    name: 'list_channels',
    title: 'List channels',
    description:
      'List the channels that you can see. A channel delivers messages posted to it, and events that match its feeds, to its members.',
    input: Type.Object(page),
    output: Type.Object({ channels: Type.Array(Type.Unknown()), total: Type.Integer() }),
    effect: 'reads',
    async run({ limit = 20, offset = 0 }, { call }) {
      const found = await call(operations.listChannels, { query: { limit, offset } })
      const channels = found.channels.map(({ id, name, description, type }) => ({ id, name, description, type }))
      return { channels, total: found.total }
    },
  }),
]
