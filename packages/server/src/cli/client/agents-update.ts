import type { AgentUpdate } from '@sensorium/client'
import { UsageError, type ClientRun } from '../command.ts'
import { record } from '../terminal/record.ts'
import { withoutUndefined } from './support/read-input.ts'
import { agentFields } from './support/show-agent.ts'

export const run: ClientRun = async ({ args, options, client, signal }) => {
  const body = withoutUndefined({
    name: options['name'],
    description: options['description'],
    delivery_mode: options['mode'],
    delivery_endpoint: options['endpoint'] === '' ? null : options['endpoint'],
  }) as AgentUpdate // the service checks the words
  if (Object.keys(body).length === 0)
    throw new UsageError('Say what changes: --mode, --endpoint, --name or --description', '--mode <poll|push|sse>')
  const json = await client.agents.update(args[0]!, body, { signal })
  return { json, text: record(agentFields(json)) }
}
