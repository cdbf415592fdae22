import type { ClientRun } from '../command.ts'

export const run: ClientRun = async ({ args, agent, client, signal }) => {
  await client.keys.revoke(await agent(), args[0]!, { signal })
  return { json: { revoked: args[0] }, text: `Key ${args[0]} is revoked.` }
}
