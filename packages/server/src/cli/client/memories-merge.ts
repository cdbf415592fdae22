import type { ClientRun } from '../command.ts'

export const run: ClientRun = async ({ args, client, signal }) => {
  const [id, ...others] = args
  const json = await client.memory.merge(id!, others, { signal })
  const merged = others.length === 1 ? '1 memory is' : `${others.length} memories are`
  return { json, text: `${merged} merged into ${json.id} and deleted.` }
}
