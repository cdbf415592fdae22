import type { EventSummary } from '@sensorium/client'
import { Link } from '@tanstack/react-router'
import { Panel } from '../../components/panel.tsx'
import { Empty } from '../../components/states.tsx'
import { Time } from '../../components/time.tsx'
import { PUBLISH } from '../events/publish-command.ts'

const SHOWN = 8

/** The latest events that were accepted while this tab was open. */
export function LatestEvents({ events }: { events: readonly EventSummary[] }) {
  return (
    <Panel
      title="Latest events"
      flush
      actions={
        <Link to="/events" className="button slim">
          All
        </Link>
      }
    >
      {events.length === 0 ? (
        <Empty title="Nothing since you opened this tab" command={PUBLISH}>
          An event appears here within a second of being accepted.
        </Empty>
      ) : (
        <ul className="lines">
          {events.slice(0, SHOWN).map(({ id, type, subject, received_at }) => (
            <li key={id} className="row">
              <Link to="/events/$id" params={{ id }} className="grow row plain">
                <code className="cut" dir="auto">
                  {type}
                </code>
                <span className="quiet cut" dir="auto">
                  {subject}
                </span>
              </Link>
              <span className="faint small">
                <Time at={received_at} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}
