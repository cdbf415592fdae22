import type { ClientRun } from '../command.ts'

export const run: ClientRun = async ({ args, client, signal }) => {
  await client.channels.delete(args[0]!, { signal })
  return { json: { deleted: args[0] }, text: `${args[0]} is deleted, with its members and feeds.` }
}
