// What needs attention: dead letters by reason, and endpoints that do not respond.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useCall } from '../../api/calls.ts'
import { PARTIAL_NOTE, useMailboxes } from '../../api/mailboxes.ts'
import { Badge } from '../../components/badge.tsx'
import { counted } from '../../components/counted.ts'
import { Panel } from '../../components/panel.tsx'
import { Empty, QueryResult } from '../../components/states.tsx'
import { CauseCount, inLongerCauses } from '../dead-letters/cause-count.tsx'

/** A row that links to the dead letters with this reason. */
function Reason({ reason, share, children }: { reason: string; share: number; children: ReactNode }) {
  return (
    <li>
      <Link to="/dead-letters" search={{ reason }} className="plain">
        <span className="row apart">
          <span className="cut" dir="auto" title={reason}>
            {reason}
          </span>
          <span className="quiet">{children}</span>
        </span>
        <span className="bar" style={{ width: `${share * 100}%` }} />
      </Link>
    </li>
  )
}

const REASONS = 6

function DeadLetters() {
  const summary = useCall('getDeadLetterSummary', {}, { every: 10_000 })
  return (
    <Panel
      title="Dead letters"
      count={summary.data?.total}
      flush
      actions={
        <Link to="/dead-letters" className="button slim">
          All
        </Link>
      }
    >
      <QueryResult of={summary}>
        {({ by_reason, total }) =>
          total === 0 ? (
            <Empty title="None">Nothing was given up on.</Empty>
          ) : (
            <ul className="lines">
              {by_reason.slice(0, REASONS).map(({ reason, count }) => (
                <Reason key={reason} reason={reason} share={count / total}>
                  <CauseCount count={count} longer={inLongerCauses(reason, by_reason)} />
                </Reason>
              ))}
            </ul>
          )
        }
      </QueryResult>
    </Panel>
  )
}

function Endpoints() {
  const mailboxes = useMailboxes()
  return (
    <Panel title="Endpoints in trouble" flush>
      <QueryResult of={mailboxes} lines={2}>
        {({ mailboxes: all, isCutOff }) => {
          const failing = all.filter(({ queue }) => (queue.push?.consecutive_failures ?? 0) > 0)
          if (failing.length === 0)
            return (
              <Empty title="None known">
                {isCutOff ? PARTIAL_NOTE : 'No endpoint is known to have failed at its latest push.'}
              </Empty>
            )
          return (
            <ul className="lines">
              {failing.map(({ id, name, queue }) => (
                <li key={id} className="row">
                  <Link to="/agents/$id" params={{ id }} className="grow stack tight plain">
                    <strong className="cut" dir="auto">
                      {name}
                    </strong>
                    <span className="quiet small cut" dir="auto">
                      {queue.push!.last_error ?? `HTTP ${queue.push!.last_status}`}
                    </span>
                  </Link>
                  <Badge tone={queue.push!.state === 'closed' ? 'warn' : 'bad'}>
                    {counted(queue.push!.consecutive_failures, 'failure')} in a row
                  </Badge>
                </li>
              ))}
            </ul>
          )
        }}
      </QueryResult>
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
