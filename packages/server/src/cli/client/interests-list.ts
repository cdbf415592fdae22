import type { ClientRun } from '../command.ts'
import { list } from '../terminal/table.ts'

export const run: ClientRun = async ({ agent, client, signal }) => {
  const json = await client.interests.list(await agent(), { signal })
  const rows = json.interests.map(({ id, event_type, filter_expression, priority, enrichment_depth }) => [
    id,
    event_type,
    filter_expression,
    priority,
    enrichment_depth,
  ])
  const none = 'It wants to hear of nothing: `sensorium interests create` says of what.'
  return { json, text: list(['id', 'type', 'filter', 'priority', 'enrichment'], rows, { none }) }
}
