import { Link } from '@tanstack/react-router'
import { Copyable } from '../../components/copy.tsx'
import { JsonTree } from '../../components/json-tree.tsx'
import { KeyValues } from '../../components/key-values.tsx'
import { Overlay } from '../../components/overlay.tsx'
import { Moment } from '../../components/time.tsx'
import { useSession } from '../../session/session.ts'
import { titleOfAction } from './actions.ts'
import { pageOf } from './page-of.ts'
import type { AuditEntry } from './query.ts'

interface EntryDrawerProps {
  entry: AuditEntry
  actor: string
  /** Shows the other entries of this actor. */
  onActor(): void
  onClose(): void
}

export function EntryDrawer({ entry, actor, onActor, onClose }: EntryDrawerProps) {
  const { kind } = useSession()
  const { at, resource, request_id, details } = entry
  const to = resource === null || kind === 'operator' ? null : pageOf(resource)
  return (
    <Overlay title={titleOfAction(entry.action)} kind="drawer" onClose={onClose}>
      <div className="stack wide">
        <KeyValues
          of={{
            Who: (
              <span className="row wrap">
                <strong>{actor}</strong>
                <button type="button" className="button slim" onClick={onActor}>
                  All that they did
                </button>
              </span>
            ),
            'Their id': actor === entry.actor || entry.actor === 'operator' ? null : <Copyable text={entry.actor} />,
            When: <Moment at={at} />,
            To:
              resource === null ? null : to === null ? (
                <Copyable text={resource} />
              ) : (
                <Link to={to as never} className="link">
                  <code>{resource}</code>
                </Link>
              ),
            Request: request_id === null ? null : <Copyable text={request_id} label="Copy the request id" />,
            Entry: <Copyable text={entry.id} />,
          }}
        />
        <JsonTree value={details} />
      </div>
    </Overlay>
  )
}
