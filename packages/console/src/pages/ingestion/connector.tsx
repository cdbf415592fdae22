import type { Connector } from '@sensorium/client'
import { useState } from 'react'
import { useAction } from '../../api/calls.ts'
import { ActionButton } from '../../components/action-button.tsx'
import { Badge, type Tone } from '../../components/badge.tsx'
import { Copyable } from '../../components/copy.tsx'
import { FormProblem } from '../../components/field.tsx'
import { KeyValues } from '../../components/key-values.tsx'
import { Confirm, Overlay } from '../../components/overlay.tsx'
import { Stat, Stats } from '../../components/stat.tsx'
import { Moment } from '../../components/time.tsx'
import './ingestion.css'
import { MappingShown } from './mapping-shown.tsx'

const TONES: Record<Connector['state'], Tone | undefined> = {
  starting: undefined,
  running: 'good',
  paused: 'warn',
  failed: 'bad',
  reconnecting: 'warn',
}

export function ConnectorState({ state }: { state: Connector['state'] }) {
  return <Badge tone={TONES[state]}>{state}</Badge>
}

export function ConnectorDrawer({ connector, onClose }: { connector: Connector; onClose(): void }) {
  const { id, source, state, counters } = connector
  const [isAsking, setAsking] = useState(false)
  const refresh = ['listConnectors'] as const
  const pause = useAction((client) => client.call('pauseConnector', { params: { id } }), {
    refresh,
    done: `${source} rests; what was under way is finished`,
    quiet: true,
  })
  const resume = useAction((client) => client.call('resumeConnector', { params: { id } }), {
    refresh,
    done: `${source} receives again`,
    quiet: true,
  })
  const remove = useAction((client) => client.call('deleteConnector', { params: { id } }), {
    refresh,
    done: `${source} is gone`,
    quiet: true,
  })
  if (isAsking)
    return (
      <Confirm
        title={`Delete the connector ${source}?`}
        verb="Delete"
        danger
        busy={remove.isPending}
        onConfirm={() => remove.mutate(undefined, { onSuccess: onClose })}
        onClose={() => {
          remove.reset()
          setAsking(false)
        }}
      >
        It receives nothing more, and its address and password are forgotten. Messages stay in the queue of the broker.
        <FormProblem error={remove.error} fields={[]} />
      </Confirm>
    )
  return (
    <Overlay title={source} kind="drawer" onClose={onClose}>
      <div className="stack wide">
        <div className="row">
          {state === 'paused' ? (
            <ActionButton kind="primary" busy={resume.isPending} onClick={() => resume.mutate()}>
              Resume
            </ActionButton>
          ) : (
            <ActionButton busy={pause.isPending} onClick={() => pause.mutate()}>
              Pause
            </ActionButton>
          )}
          <button type="button" className="button danger" onClick={() => setAsking(true)}>
            Delete
          </button>
        </div>
        <FormProblem error={state === 'paused' ? resume.error : pause.error} fields={[]} />
        {connector.last_error === null ? null : <p className="failed">{connector.last_error}</p>}
        <Stats>
          <Stat label="Received" value={counters.received.toLocaleString()} />
          <Stat label="Accepted" value={counters.accepted.toLocaleString()} />
          <Stat label="Duplicates" value={counters.duplicates.toLocaleString()} />
          <Stat label="Given back" value={counters.released.toLocaleString()} />
          <Stat
            label="Rejected"
            value={counters.rejected.toLocaleString()}
            tone={counters.rejected > 0 ? 'bad' : undefined}
          />
        </Stats>
        <KeyValues
          of={{
            State: <ConnectorState state={state} />,
            Tenant: <code>{connector.tenant}</code>,
            Broker: <code>{connector.url}</code>,
            Address: <code>{connector.address}</code>,
            Credit: connector.credit,
            'Last message': <Moment at={connector.last_message_at} absent="none" />,
            Created: <Moment at={connector.created_at} />,
            Id: <Copyable text={id} label="Copy the id" />,
          }}
        />
        <MappingShown mapping={connector.mapping} />
      </div>
    </Overlay>
  )
}
