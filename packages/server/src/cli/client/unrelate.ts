import type { ClientRun } from '../command.ts'
import { EXIT } from '../exit-codes.ts'

export const run: ClientRun = async ({ args, options, client, signal }) => {
  const [from, to] = args as [string, string]
  const { type } = options
  // At depth 1 every relationship is listed.
  const listed = await client.memory.explore(from, { depth: 1 }, { signal })
  const deleted = listed
    .map(({ relationship }) => relationship)
    .filter((one) => one.target_memory_id === to && (type === undefined || one.relationship_type === type))
  for (const { id } of deleted) await client.memory.unrelate(from, id, { signal })
  const how = type === undefined ? 'related to' : type.replaceAll('_', ' ')
  return deleted.length === 0
    ? { json: { deleted }, text: `${from} is not ${how} ${to}.`, exitCode: EXIT.notFound }
    : { json: { deleted }, text: `${from} is no longer ${how} ${to}.` }
}
