// The fields of a memory in a form, for creating one and for changing one.
import { parseToPassOn } from '../../api/parse-to-pass-on.ts'
import { Field, problemOf } from '../../components/field.tsx'
import { ShareField } from './share-field.tsx'

export interface Draft {
  title: string
  content: string
  confidence: number
  importance: number
  /** The metadata as JSON text. */
  metadata: string
  /** The expiry in the format of the form field; empty for never. */
  expires: string
}

export const CONTENT_FIELDS = ['title', 'content', 'confidence', 'importance', 'metadata', 'expires_at']

/** Returns the object that the user typed, or what is wrong with it. */
export function metadataOf(text: string): { value: Record<string, unknown> } | { problem: string } {
  if (text.trim() === '') return { value: {} }
  try {
    const value = parseToPassOn(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return { value: value as Record<string, unknown> }
    return { problem: 'Expected a JSON object.' }
  } catch (error) {
    return { problem: (error as Error).message }
  }
}

interface ContentFieldsProps {
  draft: Draft
  error: unknown
  /** Whether the metadata has numbers that this browser cannot send. */
  isMetadataFixed?: boolean
  onChange(change: Partial<Draft>): void
}

export function ContentFields({ draft, error, isMetadataFixed = false, onChange }: ContentFieldsProps) {
  const metadata = metadataOf(draft.metadata)
  return (
    <>
      <Field label="Title" problem={problemOf(error, 'title')}>
        <input required dir="auto" value={draft.title} onChange={(event) => onChange({ title: event.target.value })} />
      </Field>
      <Field label="Content" problem={problemOf(error, 'content')}>
        <textarea
          required
          dir="auto"
          rows={6}
          value={draft.content}
          onChange={(event) => onChange({ content: event.target.value })}
        />
      </Field>
      <div className="columns even">
        <ShareField
          label="Confidence"
          hint="How certain it is."
          problem={problemOf(error, 'confidence')}
          value={draft.confidence}
          onChange={(confidence) => onChange({ confidence })}
        />
        <ShareField
          label="Importance"
          hint="How much it matters."
          problem={problemOf(error, 'importance')}
          value={draft.importance}
          onChange={(importance) => onChange({ importance })}
        />
      </div>
      <Field
        label="Metadata"
        hint={
          isMetadataFixed
            ? 'It has numbers that this browser would change, so it can be edited in a newer one only.'
            : 'A JSON object; searches can ask for its members.'
        }
        problem={'problem' in metadata ? metadata.problem : problemOf(error, 'metadata')}
      >
        <textarea
          className="mono"
          spellCheck={false}
          readOnly={isMetadataFixed}
          placeholder={'{ "ticket": "T-17" }'}
          value={draft.metadata}
          onChange={(event) => onChange({ metadata: event.target.value })}
        />
      </Field>
      <Field
        label="Expires"
        hint="Left empty, it is kept until it is forgotten."
        problem={problemOf(error, 'expires_at')}
      >
        <input
          type="datetime-local"
          value={draft.expires}
          onChange={(event) => onChange({ expires: event.target.value })}
        />
      </Field>
    </>
  )
}
