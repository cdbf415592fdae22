import type { ClientRun } from '../command.ts'

export const run: ClientRun = async ({ args, client, signal }) => {
  await client.memory.forget(args[0]!, { signal })
  return { json: { forgotten: args[0] }, text: `${args[0]} is forgotten.` }
}
