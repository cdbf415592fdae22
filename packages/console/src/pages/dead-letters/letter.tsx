import type { DeadLetterItem, Verb } from './work-through.ts'
import { usePrincipalName } from '../../api/agent-names.ts'
import { ActionButton } from '../../components/action-button.tsx'
import { Copyable } from '../../components/copy.tsx'
import { EventLink } from '../../components/event-link.tsx'
import { JsonTree } from '../../components/json-tree.tsx'
import { KeyValues } from '../../components/key-values.tsx'
import { Overlay } from '../../components/overlay.tsx'
import { PrincipalLink } from '../../components/principal-link.tsx'
import { Moment } from '../../components/time.tsx'

interface LetterProps {
  letter: DeadLetterItem
  /** Whether another action is under way. */
  busy: boolean
  onDo(verb: Verb): void
  onClose(): void
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

export function LetterDrawer({ letter, busy, onDo, onClose }: LetterProps) {
  const nameOf = usePrincipalName([letter.agent_id])
  const { payload } = letter
  return (
    <Overlay title={textOf(payload['type']) ?? letter.event_id} kind="drawer" onClose={onClose}>
      <div className="stack wide">
        <p className="failed">{letter.dlq_reason}</p>
        <KeyValues
          of={{
            Agent: (
              <PrincipalLink id={letter.agent_id} className="link">
                {nameOf(letter.agent_id)}
              </PrincipalLink>
            ),
            Event: <EventLink id={letter.event_id} />,
            Delivery: <Copyable text={letter.id} label="Copy the id" />,
            Source: textOf(payload['source']),
            Subject: textOf(payload['subject']),
            Attempts: letter.attempt_count,
            Delivered: <Moment at={letter.created_at} />,
            'Given up on': <Moment at={letter.dead_lettered_at} />,
          }}
        />
        <div className="row">
          <ActionButton kind="primary" busy={busy} onClick={() => onDo('replay')}>
            Replay
          </ActionButton>
          <ActionButton kind="danger" busy={busy} onClick={() => onDo('discard')}>
            Discard
          </ActionButton>
        </div>
        <JsonTree value={payload} />
      </div>
    </Overlay>
  )
}
