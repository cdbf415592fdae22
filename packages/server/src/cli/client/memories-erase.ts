import type { ClientRun } from '../command.ts'

export const run: ClientRun = async ({ args, client, signal }) => {
  await client.memory.erase(args[0]!, { signal })
  return { json: { erased: args[0] }, text: `${args[0]} is erased; nothing of it is kept.` }
}
