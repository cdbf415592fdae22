// One event: its recipients and why they got it, the progress of each delivery, its content, its causes and effects.
import type { Trace } from '@sensorium/client'
import { getRouteApi } from '@tanstack/react-router'
import { useCall } from '../../api/calls.ts'
import { Copyable } from '../../components/copy.tsx'
import { JsonTree } from '../../components/json-tree.tsx'
import { KeyValues } from '../../components/key-values.tsx'
import { PageFrame } from '../../components/page.tsx'
import { Panel } from '../../components/panel.tsx'
import { QueryResult } from '../../components/states.tsx'
import { Moment } from '../../components/time.tsx'
import { useSession } from '../../session/session.ts'
import { Acceptance } from './acceptance.tsx'
import { Causation } from './causation.tsx'
import { Receipts } from './receipts.tsx'
import './events.css'

const route = getRouteApi('/events/$id')
/** Attributes that are shown in a place of their own. */
const KNOWN = ['specversion', 'type', 'source', 'id', 'time', 'subject', 'data', 'datacontenttype']

const receiptsIn = ({ deliveries }: Trace): number => deliveries.length

export function EventPage() {
  const { id } = route.useParams()
  const trace = useCall('getEvent', { params: { id } }, { every: 3_000, itemsIn: receiptsIn })
  return (
    <PageFrame
      title={trace.data?.event?.type ?? 'Event'}
      back={{ to: '/events', label: 'events' }}
      beside={<Copyable text={id} label="Copy the event id" />}
    >
      <QueryResult of={trace} lines={10}>
        {(data) => <EventBody id={id} trace={data} />}
      </QueryResult>
    </PageFrame>
  )
}

function EventBody({ id, trace: { event, deliveries } }: { id: string; trace: Trace }) {
  const { can } = useSession()
  const cause = event?.['causationid']
  const others = Object.entries(event ?? {}).filter(([name]) => !KNOWN.includes(name))
  return (
    <>
      <Panel title="Receipts" count={deliveries.length} flush>
        {deliveries.length === 0 ? (
          <p className="nobody quiet">Nobody received it: no interest and no channel feed matched.</p>
        ) : (
          <Receipts receipts={deliveries} />
        )}
      </Panel>
      <Causation id={id} type={event?.type ?? 'no longer kept'} cause={typeof cause === 'string' ? cause : null} />
      <div className="columns">
        <Panel title="Data">
          {event === null ? (
            <p className="quiet">The event itself is no longer kept; its receipts are.</p>
          ) : event.data === undefined ? (
            <p className="quiet">It carries no data.</p>
          ) : (
            <JsonTree value={event.data} />
          )}
        </Panel>
        {event === null ? null : (
          <div className="stack wide">
            <Panel title="Envelope">
              <KeyValues
                of={{
                  Id: <Copyable text={event.id} label="Copy the id" />,
                  Type: <code>{event.type}</code>,
                  Source: <code>{event.source}</code>,
                  Subject: event.subject ?? null,
                  Time: event.time === undefined ? null : <Moment at={event.time} />,
                  'Content type': event.datacontenttype ?? null,
                }}
              />
            </Panel>
            {can('admin') ? <Acceptance id={id} /> : null}
            {/* Apart from the envelope: publishers choose these names, and one may be `Source`. */}
            {others.length === 0 ? null : (
              <Panel title="Other attributes" count={others.length}>
                <JsonTree value={Object.fromEntries(others)} />
              </Panel>
            )}
          </div>
        )}
      </div>
    </>
  )
}
