// Agents with the state of their mailboxes. Each mailbox costs a request, so only the newest agents of a large tenant
// are looked at.
import type { Agent, Queue } from '@sensorium/client'
import { useQuery } from '@tanstack/react-query'
import { useSession } from '../session/session.ts'

export interface Mailbox extends Agent {
  queue: Queue
}

const MAILBOXES_LOOKED_AT = 50
/** The note shown when only some of the mailboxes were looked at. */
export const PARTIAL_NOTE = `Of the newest ${MAILBOXES_LOOKED_AT} active agents.`
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

/** Orders mailboxes by their oldest waiting delivery, oldest first. */
export const byAge = (a: Mailbox, b: Mailbox): number => oldestOf(a) - oldestOf(b) || byBacklog(a, b)

/** Orders mailboxes by the number of waiting deliveries, largest first. */
export const byBacklog = (a: Mailbox, b: Mailbox): number => b.queue.pending - a.queue.pending
