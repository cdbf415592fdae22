import type { Channel, FeedCreate } from '@sensorium/client'
import { useState, type FormEvent } from 'react'
import { useAction } from '../../api/calls.ts'
import { FormEnd } from '../../components/form-end.tsx'
import { FormProblem, problemOf } from '../../components/field.tsx'
import { FilterField, TypeField, useTriedFilter } from '../../components/subscription-fields.tsx'

const FIELDS = ['event_type_glob', 'filter_expression']

export function NewFeed({ channel, onClose }: { channel: Channel; onClose(): void }) {
  const [glob, setGlob] = useState('')
  const [filter, setFilter] = useState('')
  const create = useAction((client, body: FeedCreate) => client.channels.createFeed(channel.id, body), {
    refresh: ['listFeeds'],
    done: ({ event_type_glob }) => `${channel.name} now receives ${event_type_glob}`,
    quiet: true,
  })
  const tried = useTriedFilter(filter)
  const mistake = tried?.mistake ?? null
  const problem = mistake === null ? undefined : `${mistake.reason} (line ${mistake.line}, column ${mistake.column})`

  function submit(event: FormEvent): void {
    event.preventDefault()
    create.mutate(
      { event_type_glob: glob, filter_expression: filter.trim() === '' ? null : filter },
      { onSuccess: onClose },
    )
  }
  return (
    <form className="stack wide" onSubmit={submit}>
      <TypeField value={glob} onChange={setGlob} problem={problemOf(create.error, 'event_type_glob')} />
      <FilterField
        value={filter}
        onChange={setFilter}
        problem={problem ?? problemOf(create.error, 'filter_expression')}
      />
      <p className="quiet small">Every event published from now on that matches goes to every member.</p>
      <FormProblem error={create.error} fields={FIELDS} />
      <FormEnd onCancel={onClose} busy={create.isPending}>
        Add the feed
      </FormEnd>
    </form>
  )
}
