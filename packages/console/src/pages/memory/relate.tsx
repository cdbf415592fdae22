// Creates a relationship to another memory, which the user finds by its meaning.
import type { Memory, RelationshipCreate } from '@sensorium/client'
import { useState, type FormEvent } from 'react'
import { useAction, useCall } from '../../api/calls.ts'
import { FormEnd } from '../../components/form-end.tsx'
import { Field, FormProblem, problemOf } from '../../components/field.tsx'
import { Overlay } from '../../components/overlay.tsx'
import { presentData, QueryResult } from '../../components/states.tsx'
import { RELATIONSHIP_TYPES, TYPE_NAMES, type RelationshipType } from './relationship-types.ts'
import { ShareField } from './share-field.tsx'
import { useSettled } from '../../components/use-settled.ts'

const CANDIDATES = 8

export function Relate({ memory, onClose }: { memory: Memory; onClose(): void }) {
  const [query, setQuery] = useState('')
  const [target, setTarget] = useState<Memory | null>(null)
  const [type, setType] = useState<RelationshipType>('related_to')
  const [strength, setStrength] = useState(1)
  const relate = useAction(
    (client, body: RelationshipCreate) =>
      client.memory.relate(memory.id, body.target_memory_id, body.relationship_type, { strength: body.strength ?? 1 }),
    { refresh: ['listRelationships'], done: 'The memories are related', quiet: true },
  )

  function submit(event: FormEvent): void {
    event.preventDefault()
    if (target === null) return
    relate.mutate({ target_memory_id: target.id, relationship_type: type, strength }, { onSuccess: onClose })
  }

  return (
    <Overlay title="Relate it to another memory" onClose={onClose}>
      <form className="stack wide" onSubmit={submit}>
        <Field label={`“${memory.title}” is or does`} problem={problemOf(relate.error, 'relationship_type')}>
          <select value={type} onChange={(event) => setType(event.target.value as RelationshipType)}>
            {TYPE_NAMES.map((name) => (
              <option key={name} value={name}>
                {RELATIONSHIP_TYPES[name].out}
              </option>
            ))}
          </select>
        </Field>
        <Field
          label="The other memory"
          hint="Ask for it, then choose."
          problem={problemOf(relate.error, 'target_memory_id')}
        >
          <input
            type="search"
            value={query}
            placeholder={memory.title}
            onChange={(event) => setQuery(event.target.value)}
          />
        </Field>
        <Candidates query={query.trim() || memory.title} except={memory.id} chosen={target} onChoose={setTarget} />
        <ShareField
          label="Strength"
          problem={problemOf(relate.error, 'strength')}
          value={strength}
          onChange={setStrength}
        />
        <FormProblem error={relate.error} fields={['relationship_type', 'target_memory_id', 'strength']} />
        <FormEnd onCancel={onClose} busy={target === null || relate.isPending}>
          Relate
        </FormEnd>
      </form>
    </Overlay>
  )
}

interface CandidatesProps {
  query: string
  except: string
  chosen: Memory | null
  onChoose(memory: Memory): void
}

/**
 * The memories that were found. The chosen one stays with them, whatever is asked for or fails after that: at the end,
 * so that no row moves when another is chosen.
 */
function Candidates({ query, except, chosen, onChoose }: CandidatesProps) {
  const settled = useSettled(query)
  const found = useCall('searchMemories', { body: { query: settled, limit: CANDIDATES + 1 } }, { keep: true })
  const others = (presentData(found)?.results ?? [])
    .map(({ memory }) => memory)
    .filter(({ id }) => id !== except)
    .slice(0, CANDIDATES)
  const listed = chosen === null || others.some(({ id }) => id === chosen.id) ? others : [...others, chosen]
  return (
    <>
      {listed.length === 0 ? null : (
        <fieldset className="candidates" aria-label="Memories to choose from">
          {listed.map((memory) => (
            <label key={memory.id}>
              <input type="radio" name="target" checked={memory.id === chosen?.id} onChange={() => onChoose(memory)} />
              <span className="cut" dir="auto">
                {memory.title}
              </span>
            </label>
          ))}
        </fieldset>
      )}
      <QueryResult of={found} lines={3}>
        {() => null}
      </QueryResult>
    </>
  )
}
