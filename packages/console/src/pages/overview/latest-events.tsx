import { Link } from '@tanstack/react-router'
import type { LiveView } from '../../api/live-store.ts'
import { Panel } from '../../components/panel.tsx'
import { Time } from '../../components/time.tsx'
import { EmptyStream } from '../events/empty-stream.tsx'
import { PUBLISH } from '../events/publish-command.ts'
import { useWithEarlier } from '../events/use-earlier.ts'

const SHOWN = 8

/** The latest events that were accepted. */
export function LatestEvents({ live }: { live: LiveView }) {
  const events = useWithEarlier(live).slice(0, SHOWN)
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
        <EmptyStream live={live} command={PUBLISH}>
          Events that are accepted from now on appear here within a second. Publish one from a shell, with your key in
          the first line.
        </EmptyStream>
      ) : (
        <ul className="lines">
          {events.map(({ id, type, subject, received_at }) => (
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
