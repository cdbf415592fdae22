// A segmented control: a few options, one of which is selected.
import type { ReactNode } from 'react'

interface SegmentsProps<T extends string> {
  label: string
  value: T
  options: readonly { value: T; label: ReactNode; title?: string }[]
  onChange(value: T): void
}

export function Segments<T extends string>({ label, value, options, onChange }: SegmentsProps<T>) {
  return (
    <fieldset className="segments" aria-label={label}>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          {...(option.title === undefined ? {} : { title: option.title, 'aria-label': option.title })}
          onClick={() => onChange(option.value)}
        >
          {option.label}
        </button>
      ))}
    </fieldset>
  )
}
