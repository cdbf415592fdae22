// The fields that an interest and a feed share: the type pattern and the filter. Each form keeps the two texts.
import { useQuery } from '@tanstack/react-query'
import { LOCAL } from '../api/reachable.ts'
import { tryFilter, type TriedFilter } from './try-filter.ts'
import { Field } from './field.tsx'

/** Returns the filter, compiled as in the service. The last result stays until the next is ready, to avoid flicker. */
export function useTriedFilter(filter: string): TriedFilter | undefined {
  return useQuery({
    queryKey: ['tried filter', filter],
    queryFn: () => tryFilter(filter),
    meta: LOCAL,
    placeholderData: (before) => before,
    staleTime: Infinity,
    gcTime: 0,
    structuralSharing: false,
  }).data
}

interface Given {
  value: string
  onChange(value: string): void
  problem: string | undefined
}

export function TypeField({ value, onChange, problem }: Given) {
  const hint = (
    <>
      A pattern: <code>com.plant.pump.*</code>
    </>
  )
  return (
    <Field label="Event type" hint={hint} problem={problem}>
      <input
        className="mono"
        required
        autoFocus
        spellCheck={false}
        placeholder="com.plant.pump.*"
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </Field>
  )
}

export function FilterField({ value, onChange, problem }: Given) {
  const hint = (
    <>
      CEL over <code>data</code> and <code>event</code>; empty takes everything of the type
    </>
  )
  return (
    <Field label="Filter" hint={hint} problem={problem}>
      <textarea
        className="mono"
        spellCheck={false}
        placeholder="data.celsius > 80"
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </Field>
  )
}
