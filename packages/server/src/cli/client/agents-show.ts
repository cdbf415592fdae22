import type { ClientRun } from '../command.ts'
import { record } from '../terminal/record.ts'
import { when } from '../terminal/when.ts'
import { agentFields } from './show-agent.ts'

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
  ])
  return { json: { agent, queue }, text }
}
