import { operations } from '@sensorium/contract'
import type { Command } from './command.ts'

export const connectorDelete: Command = {
  words: ['connector', 'delete'],
  parameters: ['id'],
  summary: 'Delete a connector; what it has not received stays with the broker',
  async run({ args, call }) {
    await call(operations.deleteConnector, { params: { id: args[0]! } })
    return { json: null, text: `Connector ${args[0]} is deleted.` }
  },
}
