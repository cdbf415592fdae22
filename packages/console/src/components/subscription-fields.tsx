// What an interest and a feed both say: which types, and which of their events. Each form keeps the two texts.
import { useQuery } from '@tanstack/react-query'
import { tryFilter, type TriedFilter } from './try-filter.ts'
import { Field } from './field.tsx'

/** The filter as the service would read it. The last one that was compiled stays until the next is: nothing flickers. */
export function useTriedFilter(filter: string): TriedFilter | undefined {
  return useQuery({
    queryKey: ['tried filter', filter],
    queryFn: () => tryFilter(filter),
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
