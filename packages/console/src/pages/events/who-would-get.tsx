// Who would receive the event that is being typed. The service is asked a moment after the last keystroke; nothing is
// stored.
import { SensoriumError, type Event } from '@sensorium/client'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { usePrincipalName } from '../../api/agent-names.ts'
import { Badge } from '../../components/badge.tsx'
import { QueryResult } from '../../components/states.tsx'
import { useSettled } from '../../components/use-settled.ts'
import { useSession } from '../../session/session.ts'

export function WhoWouldGet({ event }: { event: Event | null }) {
  const { client } = useSession()
  const asked = useSettled(event)
  const explained = useQuery({
    queryKey: ['explainEvent', asked],
    enabled: asked !== null && asked.type !== '',
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => client.call('explainEvent', { body: { event: asked! } }, { signal }),
  })
  const nameOf = usePrincipalName(explained.data?.recipients.map(({ agent_id }) => agent_id) ?? [])
  const problem = explained.error instanceof SensoriumError && explained.error.status === 400 ? explained.error : null
  return (
    <section className="stack" aria-live="polite" aria-label="Who would get this">
      <h3>Who would get this</h3>
      {asked === null ? (
        <p className="quiet">Once the data is JSON, this says who would receive the event.</p>
      ) : asked.type === '' ? (
        <p className="quiet">Write a type, and see who would receive the event.</p>
      ) : problem !== null ? (
        <p className="failed">{problem.message}</p>
      ) : (
        <QueryResult of={explained} lines={2}>
          {({ recipients }) =>
            recipients.length === 0 ? (
              <p className="quiet">Nobody: no interest and no channel feed matches.</p>
            ) : (
              <ul className="stack tight">
                {recipients.map(({ agent_id, via, priority }) => (
                  <li key={agent_id} className="row">
                    <Badge tone="good">{nameOf(agent_id)}</Badge>
                    <span className="faint small cut">
                      {[...new Set(via.map(({ kind }) => kind))].join(', ')}
                      {priority === 0 ? '' : ` · priority ${priority}`}
                    </span>
                  </li>
                ))}
              </ul>
            )
          }
        </QueryResult>
      )}
    </section>
  )
}
