// Publishing by hand: a CloudEvents envelope, checked while it is typed, and beside it who would receive it.
import type { Event, Published } from '@sensorium/client'
import { useNavigate } from '@tanstack/react-router'
import { useDeferredValue, useMemo, useState, type FormEvent } from 'react'
import { useAction } from '../../api/calls.ts'
import { parseToPassOn } from '../../api/parse-to-pass-on.ts'
import { FormEnd } from '../../components/form-end.tsx'
import { counted } from '../../components/counted.ts'
import { Field, FormProblem, problemOf } from '../../components/field.tsx'
import { randomId } from '../../session/random-ids.ts'
import { WhoWouldGet } from './who-would-get.tsx'
import './events.css'

const FIELDS = ['type', 'source', 'id', 'subject', 'time', 'data']

interface Draft {
  type: string
  source: string
  subject: string
  id: string
  data: string
}

/** Returns the envelope, or what is wrong with its data. */
function envelopeOf(draft: Draft, recipient: string | undefined): { event: Event | null; mistake: string | null } {
  try {
    const event: Event = {
      specversion: '1.0',
      id: draft.id,
      type: draft.type,
      source: draft.source,
      ...(recipient === undefined ? {} : { recipient }),
      ...(draft.subject === '' ? {} : { subject: draft.subject }),
      ...(draft.data.trim() === '' ? {} : { data: parseToPassOn(draft.data) }),
    }
    return { event, mistake: null }
  } catch (error) {
    return { event: null, mistake: (error as Error).message }
  }
}

interface PublishFormProps {
  /** The agent or channel that the event is addressed to. */
  recipient?: string
  onClose(): void
}

export function PublishForm({ recipient, onClose }: PublishFormProps) {
  const navigate = useNavigate()
  const [draft, setDraft] = useState<Draft>(() => ({
    type: '',
    source: '/console',
    subject: '',
    id: randomId(),
    data: '{\n  \n}',
  }))
  const { event, mistake } = useMemo(() => envelopeOf(draft, recipient), [draft, recipient])
  const shown = useDeferredValue(event)
  const publish = useAction(async (client, body: Event) => (await client.call('publishEvent', { body })) as Published, {
    quiet: true,
    done: ({ status, recipients }) =>
      status === 'duplicate'
        ? 'An event with this id was there already'
        : `Accepted, for ${counted(recipients ?? 0, 'mailbox', 'mailboxes')}`,
  })
  const set = (change: Partial<Draft>): void => setDraft({ ...draft, ...change })

  function submit(submitted: FormEvent): void {
    submitted.preventDefault()
    if (event === null) return
    publish.mutate(event, {
      onSuccess: ({ event_id }) => void navigate({ to: '/events/$id', params: { id: event_id }, replace: true }),
    })
  }

  return (
    <div className="publish">
      <form className="stack wide" onSubmit={submit}>
        <Field label="Type" problem={problemOf(publish.error, 'type')}>
          <input
            className="mono"
            required
            autoFocus
            spellCheck={false}
            placeholder="com.plant.pump.measured"
            value={draft.type}
            onChange={({ target }) => set({ type: target.value })}
          />
        </Field>
        <div className="columns even">
          <Field label="Source" problem={problemOf(publish.error, 'source')}>
            <input
              className="mono"
              required
              value={draft.source}
              onChange={({ target }) => set({ source: target.value })}
            />
          </Field>
          <Field label="Subject" problem={problemOf(publish.error, 'subject')}>
            <input
              className="mono"
              placeholder="pump/7"
              value={draft.subject}
              onChange={({ target }) => set({ subject: target.value })}
            />
          </Field>
        </div>
        <Field
          label="Id"
          hint="Unique in the tenant: the same id is a duplicate"
          problem={problemOf(publish.error, 'id')}
        >
          <input className="mono" required value={draft.id} onChange={({ target }) => set({ id: target.value })} />
        </Field>
        <Field label="Data" hint="JSON" problem={mistake ?? problemOf(publish.error, 'data')}>
          <textarea
            className="mono data"
            spellCheck={false}
            value={draft.data}
            onChange={({ target }) => set({ data: target.value })}
          />
        </Field>
        <FormProblem error={publish.error} fields={FIELDS} />
        <FormEnd onCancel={onClose} busy={publish.isPending || event === null}>
          Publish
        </FormEnd>
      </form>
      <WhoWouldGet event={shown} />
    </div>
  )
}
