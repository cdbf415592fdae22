import type { PushState } from '@sensorium/client'
import type { ClientRun } from '../command.ts'
import { record, type Field } from '../terminal/record.ts'
import { when } from '../terminal/when.ts'
import { agentFields } from './support/show-agent.ts'

/** How the endpoint responds: whether a push agent receives anything depends on that. */
const pushFields = (push: PushState): Field[] => [
  ['last success', when(push.last_success_at)],
  ['last status', push.last_status],
  ['failures', push.consecutive_failures === 0 ? null : `${push.consecutive_failures} in a row`],
  ['last error', push.last_error],
  ['breaker', push.state === 'closed' ? null : { text: push.state.replace('_', ' '), style: 'yellow' }],
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
