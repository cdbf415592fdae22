import type { ChannelCreate } from '@sensorium/client'
import { useNavigate } from '@tanstack/react-router'
import { useState, type FormEvent } from 'react'
import { useAction } from '../../api/calls.ts'
import { FormEnd } from '../../components/form-end.tsx'
import { Field, FormProblem, problemOf } from '../../components/field.tsx'
import { Overlay } from '../../components/overlay.tsx'

const TYPES: readonly { value: ChannelCreate['type']; says: string }[] = [
  { value: 'open', says: 'Every agent of the tenant sees it, and may join and leave' },
  { value: 'private', says: 'Only its members and org-admins see it' },
  { value: 'direct', says: 'As private, for two' },
]
const FIELDS = ['name', 'description', 'type']

export function CreateChannel({ onClose }: { onClose(): void }) {
  const navigate = useNavigate()
  const [channel, setChannel] = useState<ChannelCreate>({ name: '', type: 'open' })
  const create = useAction((client, body: ChannelCreate) => client.channels.create(body), {
    refresh: ['listChannels'],
    done: ({ name }) => `${name} is there`,
    quiet: true,
  })
  const set = (change: Partial<ChannelCreate>): void => setChannel({ ...channel, ...change })

  function submit(event: FormEvent): void {
    event.preventDefault()
    create.mutate(channel, {
      onSuccess: ({ id }) => void navigate({ to: '/channels/$id', params: { id }, replace: true }),
    })
  }

  return (
    <Overlay title="Create a channel" onClose={onClose}>
      <form className="stack wide" onSubmit={submit}>
        <Field label="Name" problem={problemOf(create.error, 'name')}>
          <input
            required
            autoFocus
            placeholder="Incidents"
            value={channel.name}
            onChange={(event) => set({ name: event.target.value })}
          />
        </Field>
        <Field label="Description" problem={problemOf(create.error, 'description')}>
          <textarea
            placeholder="What is broken right now"
            value={channel.description ?? ''}
            onChange={(event) => set({ description: event.target.value === '' ? null : event.target.value })}
          />
        </Field>
        <Field
          label="Type"
          hint={TYPES.find(({ value }) => value === channel.type)?.says}
          problem={problemOf(create.error, 'type')}
        >
          <select value={channel.type} onChange={(event) => set({ type: event.target.value as ChannelCreate['type'] })}>
            {TYPES.map(({ value }) => (
              <option key={value}>{value}</option>
            ))}
          </select>
        </Field>
        <p className="quiet small">You become its owner. The type of a channel cannot be changed later.</p>
        <FormProblem error={create.error} fields={FIELDS} />
        <FormEnd onCancel={onClose} busy={create.isPending}>
          Create
        </FormEnd>
      </form>
    </Overlay>
  )
}
