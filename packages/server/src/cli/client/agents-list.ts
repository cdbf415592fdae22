import type { Operations } from '@sensorium/client'
import type { ClientRun } from '../command.ts'
import { noneOf } from '../terminal/none.ts'
import { list } from '../terminal/table.ts'
import { when } from '../terminal/when.ts'
import { withoutUndefined, numberOf } from './support/read-input.ts'
import { statusOf } from './support/show-agent.ts'

export const run: ClientRun = async ({ options, client, signal }) => {
  const query = withoutUndefined({
    status: options['status'],
    offset: numberOf('--offset', options['offset']),
    limit: numberOf('--limit', options['limit']),
  }) as Operations['listAgents']['query'] // the service checks the word
  const json = await client.agents.list(query, { signal })
  const rows = json.agents.map((agent) => [
    agent.id,
    agent.name,
    statusOf(agent),
    agent.delivery_mode,
    agent.client_type,
    when(agent.created_at),
  ])
  const head = ['id', 'name', 'status', 'mode', 'client', 'since']
  const none = noneOf(query, 'There is no agent.', 'No agent fits.')
  return { json, text: list(head, rows, { none, total: json.total }) }
}
