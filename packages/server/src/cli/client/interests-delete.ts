import type { ClientRun } from '../command.ts'

export const run: ClientRun = async ({ args, agent, client, signal }) => {
  await client.interests.delete(await agent(), args[0]!, { signal })
  return { json: { deleted: args[0] }, text: `Interest ${args[0]} is deleted.` }
}
