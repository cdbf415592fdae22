// Agents with what waits for them. Each agent is asked, so only the newest of a large tenant are looked at.
import type { Agent, Queue } from '@sensorium/client'
import { useQuery } from '@tanstack/react-query'
import { useSession } from '../session/session.ts'

export interface Mailbox extends Agent {
  queue: Queue
}

export const MAILBOXES_LOOKED_AT = 50
/** Behind what is said of all of them where they are not all. */
export const OF_THOSE_LOOKED_AT = `Of the newest ${MAILBOXES_LOOKED_AT} active agents.`
const EVERY_MS = 10_000

export function useMailboxes(enabled = true) {
  const { client } = useSession()
  return useQuery({
    queryKey: ['getQueue', 'mailboxes'],
    enabled,
    refetchInterval: EVERY_MS,
    queryFn: async ({ signal }): Promise<{ mailboxes: Mailbox[]; isCutOff: boolean }> => {
      const { agents, total } = await client.agents.list({ status: 'active', limit: MAILBOXES_LOOKED_AT }, { signal })
      const mailboxes = await Promise.all(
        agents.map(async (agent) => ({ ...agent, queue: await client.agents.queue(agent.id, { signal }) })),
      )
      return { mailboxes, isCutOff: total > agents.length }
    },
  })
}

const oldestOf = ({ queue }: Mailbox): number =>
  queue.oldest_pending_at === null ? Number.POSITIVE_INFINITY : Date.parse(queue.oldest_pending_at)

/** What has waited longest comes first. */
export const byAge = (a: Mailbox, b: Mailbox): number => oldestOf(a) - oldestOf(b) || byBacklog(a, b)

/** What waits in the largest number comes first. */
export const byBacklog = (a: Mailbox, b: Mailbox): number => b.queue.pending - a.queue.pending
