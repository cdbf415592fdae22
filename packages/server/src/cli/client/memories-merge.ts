import type { ClientRun } from '../command.ts'

export const run: ClientRun = async ({ args, client, signal }) => {
  const [id, ...named] = args
  const json = await client.memory.merge(id!, named, { signal })
  // The service takes each memory once, and not the one that stays.
  const others = new Set(named.filter((other) => other !== id)).size
  if (others === 0) return { json, text: `Nothing is merged: only ${json.id} was named.` }
  const merged = others === 1 ? '1 memory is' : `${others} memories are`
  return { json, text: `${merged} merged into ${json.id} and deleted.` }
}
