import type { Channel, FeedCreate } from '@sensorium/client'
import { useQuery } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { useAction } from '../../api/calls.ts'
import { Field, FormProblem, problemOf } from '../../components/field.tsx'
import { tryFilter } from '../agents/try-filter.ts'

const FIELDS = ['event_type_glob', 'filter_expression']

export function NewFeed({ channel, onClose }: { channel: Channel; onClose(): void }) {
  const [glob, setGlob] = useState('')
  const [filter, setFilter] = useState('')
  const create = useAction((client, body: FeedCreate) => client.channels.createFeed(channel.id, body), {
    refresh: ['listFeeds'],
    done: ({ event_type_glob }) => `${channel.name} now receives ${event_type_glob}`,
    quiet: true,
  })
  const { data: tried } = useQuery({
    queryKey: ['tried filter', filter],
    queryFn: () => tryFilter(filter),
    placeholderData: (before) => before,
    staleTime: Infinity,
    gcTime: 0,
    structuralSharing: false,
  })
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
      <Field
        label="Event type"
        hint={
          <>
            A pattern: <code>com.plant.pump.*</code>
          </>
        }
        problem={problemOf(create.error, 'event_type_glob')}
      >
        <input
          className="mono"
          required
          autoFocus
          spellCheck={false}
          placeholder="com.plant.pump.*"
          value={glob}
          onChange={(event) => setGlob(event.target.value)}
        />
      </Field>
      <Field
        label="Filter"
        hint={
          <>
            CEL over <code>data</code> and <code>event</code>; empty takes everything of the type
          </>
        }
        problem={problem ?? problemOf(create.error, 'filter_expression')}
      >
        <textarea
          className="mono"
          spellCheck={false}
          placeholder="data.celsius > 80"
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
        />
      </Field>
      <p className="quiet small">Every event published from now on that matches goes to every member.</p>
      <FormProblem error={create.error} fields={FIELDS} />
      <div className="form-end">
        <button type="button" className="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" className="button primary" disabled={create.isPending}>
          Add the feed
        </button>
      </div>
    </form>
  )
}
