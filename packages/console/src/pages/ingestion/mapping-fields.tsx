import type { IngestMapping } from '@sensorium/client'
import { useState } from 'react'
import { Field, problemOf } from '../../components/field.tsx'

const PARTS: readonly { name: keyof IngestMapping; label: string; example: string }[] = [
  { name: 'entity', label: 'Entity', example: 'body.entity' },
  { name: 'action', label: 'Action', example: 'body.action' },
  { name: 'id', label: 'Id', example: 'body.id' },
  { name: 'subject', label: 'Subject', example: 'entity + "/" + id' },
  { name: 'data', label: 'Data', example: 'body' },
]

export const MAPPING_FIELDS = PARTS.map(({ name }) => `mapping.${name}`)

interface MappingFieldsProps {
  mapping: IngestMapping
  error: unknown
  /** The placeholder of empty fields, which says what holds for them. */
  defaults?: string | undefined
  onChange(mapping: IngestMapping): void
}

/** The expressions of a mapping. An empty one is left out and takes the default. */
export function MappingFields({ mapping, error, defaults, onChange }: MappingFieldsProps) {
  const [isOpen, setOpen] = useState(false)
  /** A problem of a folded field would not be seen. It is left open then, also while it is sent again. */
  const hasProblem = MAPPING_FIELDS.some((field) => problemOf(error, field) !== undefined)
  function set(name: keyof IngestMapping, text: string): void {
    const { [name]: _, ...others } = mapping
    onChange(text === '' ? others : { ...others, [name]: text })
  }
  return (
    <details
      className="mapping"
      open={isOpen || hasProblem}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>
        Mapping <span className="quiet small">CEL over body and headers; empty takes the default</span>
      </summary>
      <div className="stack">
        {PARTS.map(({ name, label, example }) => (
          <Field key={name} label={label} problem={problemOf(error, `mapping.${name}`)}>
            <input
              className="mono"
              spellCheck={false}
              placeholder={defaults ?? example}
              value={mapping[name] ?? ''}
              onChange={(event) => set(name, event.target.value)}
            />
          </Field>
        ))}
      </div>
    </details>
  )
}
