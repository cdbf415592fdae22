// What needs somebody: dead letters by their reason, and endpoints that do not answer.
import type { Operations } from '@sensorium/client'
import { Link } from '@tanstack/react-router'
import { useCall } from '../../api/calls.ts'
import { Badge } from '../../components/badge.tsx'
import { Panel } from '../../components/panel.tsx'
import { Empty, Reply } from '../../components/states.tsx'
import { useMailboxes } from './mailboxes.tsx'

/** Numbers and ids made alike, so that `no rule for 103 degrees` and `no rule for 104 degrees` are one reason. */
const kindOf = (reason: string): string => reason.replace(/\d+/g, '…').slice(0, 120)

type Letter = Operations['listDeadLetters']['response']['dlq_items'][number]

function byReason(letters: readonly Letter[]): [string, number][] {
  const counts = new Map<string, number>()
  for (const { dlq_reason } of letters) counts.set(kindOf(dlq_reason), (counts.get(kindOf(dlq_reason)) ?? 0) + 1)
  return [...counts].sort(([, a], [, b]) => b - a).slice(0, 6)
}

function DeadLetters() {
  const letters = useCall('listDeadLetters', { query: { limit: 200 } }, { every: 10_000 })
  return (
    <Panel title="Dead letters" count={letters.data?.total} flush>
      <Reply of={letters}>
        {({ dlq_items, total }) =>
          total === 0 ? (
            <Empty title="None">Nothing was given up on.</Empty>
          ) : (
            <ul className="lines bars">
              {byReason(dlq_items).map(([reason, count]) => (
                <li key={reason}>
                  <div className="row apart">
                    <span className="cut" title={reason}>
                      {reason}
                    </span>
                    <span className="number quiet">{count}</span>
                  </div>
                  <span className="bar" style={{ width: `${(count / dlq_items.length) * 100}%` }} />
                </li>
              ))}
            </ul>
          )
        }
      </Reply>
    </Panel>
  )
}

function Endpoints() {
  const mailboxes = useMailboxes()
  return (
    <Panel title="Endpoints in trouble" flush>
      <Reply of={mailboxes} lines={2}>
        {(all) => {
          const failing = all.filter(({ queue }) => (queue.push?.consecutive_failures ?? 0) > 0)
          if (failing.length === 0) return <Empty title="None">Every endpoint that was pushed to has answered.</Empty>
          return (
            <ul className="lines">
              {failing.map(({ agent, queue }) => (
                <li key={agent.id} className="row">
                  <Link to="/agents/$id" params={{ id: agent.id }} className="grow stack tight plain">
                    <strong>{agent.name}</strong>
                    <span className="quiet small cut">
                      {queue.push!.last_error ?? `HTTP ${queue.push!.last_status}`}
                    </span>
                  </Link>
                  <Badge tone={queue.push!.state === 'closed' ? 'warn' : 'bad'}>
                    {queue.push!.consecutive_failures} in a row
                  </Badge>
                </li>
              ))}
            </ul>
          )
        }}
      </Reply>
    </Panel>
  )
}

export function Trouble() {
  return (
    <div className="stack wide">
      <DeadLetters />
      <Endpoints />
    </div>
  )
}
