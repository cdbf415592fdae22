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
    description: 'See the agents of your organisation, newest first.',
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
      'See the channels that you may see. A channel delivers what is posted to it, and what its feeds match, to its members.',
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
