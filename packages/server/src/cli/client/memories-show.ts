import type { ClientRun } from '../command.ts'
import { list } from '../terminal/table.ts'
import { withoutUndefined, numberOf } from './support/read-input.ts'
import { showMemory } from './support/show-memory.ts'

export const run: ClientRun = async ({ args, options, client, signal }) => {
  const memory = await client.memory.get(args[0]!, { signal })
  const depth = withoutUndefined({ depth: numberOf('--depth', options['depth']) })
  const related = await client.memory.explore(memory.id, depth, { signal })
  const rows = related.map((one) => [
    one.relationship.relationship_type.replaceAll('_', ' '),
    one.memory.title,
    one.memory.id,
    one.depth,
    one.cumulative_strength.toFixed(2),
  ])
  const head = ['relationship', 'title', 'id', 'away', 'strength']
  const text = `${showMemory(memory, '')}\n\n${list(head, rows, { none: 'It is related to nothing.' })}`
  return { json: { memory, relationships: related }, text }
}
