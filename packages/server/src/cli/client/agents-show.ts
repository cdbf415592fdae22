import type { PushState } from '@sensorium/client'
import type { ClientRun } from '../command.ts'
import { record, type Field } from '../terminal/record.ts'
import { when } from '../terminal/when.ts'
import { agentFields } from './show-agent.ts'

/** How the endpoint responds: whether a push agent receives anything depends on that. */
const pushFields = ({ state, consecutive_failures: failures, last_error, last_success_at }: PushState): Field[] => [
  ['last push', when(last_success_at)],
  ['failures', failures === 0 ? null : `${failures} in a row`],
  ['last error', last_error],
  ['breaker', state === 'closed' ? null : { text: state.replace('_', ' '), style: 'yellow' }],
]

export const run: ClientRun = async ({ args, client, signal }) => {
  const id = args[0]!
  const agent = await client.agents.get(id, { signal })
  const queue = await client.agents.queue(id, { signal })
  const text = record([
    ...agentFields(agent),
    ['waiting', queue.pending],
    ['leased', queue.leased],
    ['dead letters', queue.dead_lettered],
    ['oldest', queue.oldest_pending_at === null ? null : when(queue.oldest_pending_at)],
    ['last poll', when(queue.last_poll_at)],
    ...(queue.push ? pushFields(queue.push) : []),
  ])
  return { json: { agent, queue }, text }
}
