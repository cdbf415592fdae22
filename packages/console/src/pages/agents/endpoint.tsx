// The endpoint of a push agent: its address, how it has been responding, and when failed pushes are retried.
import type { Agent, AgentUpdate } from '@sensorium/client'
import { useState, type FormEvent } from 'react'
import { ActionButton } from '../../components/action-button.tsx'
import { FormEnd } from '../../components/form-end.tsx'
import { Badge } from '../../components/badge.tsx'
import { Field, FormProblem, problemOf } from '../../components/field.tsx'
import { KeyValues } from '../../components/key-values.tsx'
import { Overlay } from '../../components/overlay.tsx'
import { Panel } from '../../components/panel.tsx'
import { MadeSecret } from '../../components/shown-once.tsx'
import { exactSpan } from '../../components/span.ts'
import { Moment } from '../../components/time.tsx'
import { useAction, useCall } from '../../api/calls.ts'
import { useSession } from '../../session/session.ts'
import { changeOf, type EndpointTexts } from './endpoint-change.ts'
import { endpointState } from './endpoint-state.ts'

export function Endpoint({ agent }: { agent: Agent }) {
  const { can, isSelf } = useSession()
  // Who may change it may also see how it has been responding.
  const mayChange = can('admin') || (isSelf(agent.id) && can('receive'))
  const { data: queue } = useCall('getQueue', { params: { id: agent.id } }, { enabled: mayChange })
  const [isEditing, setEditing] = useState(false)
  const rotate = useAction((client) => client.agents.rotatePushSecret(agent.id))
  const push = queue?.push
  const state = push && endpointState(push)
  const waits = agent.retry_schedule_seconds
  return (
    <Panel
      title="Push endpoint"
      actions={
        mayChange ? (
          <>
            <ActionButton kind="slim" busy={rotate.isPending} onClick={() => rotate.mutate()}>
              New secret
            </ActionButton>
            <button type="button" className="button slim" onClick={() => setEditing(true)}>
              Change
            </button>
          </>
        ) : null
      }
    >
      <KeyValues
        of={{
          Address: agent.delivery_endpoint ?? <span className="faint">none yet: nothing is pushed</span>,
          State: state ? <Badge tone={state.tone}>{state.says}</Badge> : null,
          'Last status': push?.last_status ?? null,
          'Last error': push?.last_error ?? null,
          'Failures in a row': push ? push.consecutive_failures : null,
          'Last success': push ? <Moment at={push.last_success_at} absent="never" /> : null,
          Latency: push?.latency_ms ? `${Math.round(push.latency_ms)} ms` : null,
          'Tried again after': waits === null ? 'the usual waits' : waits.map(exactSpan).join(', '),
        }}
      />
      {isEditing ? (
        <Overlay title="Push endpoint" onClose={() => setEditing(false)}>
          <ChangeEndpoint agent={agent} onClose={() => setEditing(false)} />
        </Overlay>
      ) : null}
      <MadeSecret title="The new push secret" name="the secret" of={rotate} secretOf={({ push_secret }) => push_secret}>
        Pushes are signed with it from now on, and with the old one too for 24 hours.
      </MadeSecret>
    </Panel>
  )
}

function ChangeEndpoint({ agent, onClose }: { agent: Agent; onClose(): void }) {
  const [old] = useState<EndpointTexts>({
    address: agent.delivery_endpoint ?? '',
    waits: agent.retry_schedule_seconds?.join(', ') ?? '',
  })
  const [{ address, waits }, setTexts] = useState(old)
  const body = changeOf(old, { address, waits })
  const change = useAction((client, body: AgentUpdate) => client.agents.update(agent.id, body), {
    refresh: ['getAgent', 'getQueue'],
    done: 'The endpoint is changed',
    quiet: true,
  })
  function submit(event: FormEvent): void {
    event.preventDefault()
    change.mutate(body, { onSuccess: onClose })
  }
  return (
    <form className="stack wide" onSubmit={submit}>
      <Field label="Address" problem={problemOf(change.error, 'delivery_endpoint')}>
        <input
          className="mono"
          type="url"
          autoFocus
          placeholder="https://agent.example.com/deliveries"
          value={address}
          onChange={(event) => setTexts({ address: event.target.value, waits })}
        />
      </Field>
      <Field
        label="Waits after failed pushes"
        hint="Seconds, separated by commas; the last repeats. Empty takes the usual ones."
        problem={problemOf(change.error, 'retry_schedule_seconds')}
      >
        <input
          className="mono"
          placeholder="5, 60, 600, 3600"
          value={waits}
          onChange={(event) => setTexts({ address, waits: event.target.value })}
        />
      </Field>
      <FormProblem error={change.error} fields={['delivery_endpoint', 'retry_schedule_seconds']} />
      <FormEnd onCancel={onClose} busy={change.isPending || Object.keys(body).length === 0}>
        Save
      </FormEnd>
    </form>
  )
}
