import { deleteConnector } from '../ingest/connectors/delete.ts'
import type { Command } from './command.ts'

export const connectorDelete: Command = {
  words: ['connector', 'delete'],
  parameters: ['id'],
  summary: 'Delete a connector; what it has not received stays with the broker',
  async run({ args, withStore }) {
    await withStore((store) => store.tx((tx) => deleteConnector(tx, args[0]!)))
    return { json: null, text: `Connector ${args[0]} is deleted.` }
  },
}
