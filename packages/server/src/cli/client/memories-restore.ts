import type { ClientRun } from '../command.ts'
import { numberOf } from './support/read-input.ts'
import { showMemory } from './support/show-memory.ts'

export const run: ClientRun = async ({ args, client, signal }) => {
  const [id, version] = args
  const json = await client.memory.restore(id!, numberOf('<version>', version)!, { signal })
  return { json, text: showMemory(json, '') }
}
