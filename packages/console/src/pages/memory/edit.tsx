import type { Memory, MemoryUpdate } from '@sensorium/client'
import { useState, type FormEvent } from 'react'
import { useAction } from '../../api/calls.ts'
import { wouldChange } from '../../api/exact-numbers.ts'
import { FormProblem } from '../../components/field.tsx'
import { FormEnd } from '../../components/form-end.tsx'
import { Overlay } from '../../components/overlay.tsx'
import { CONTENT_FIELDS, ContentFields, metadataOf, type Draft } from './form.tsx'
import { fromInput, toInput } from './moments.ts'

const draftOf = (memory: Memory): Draft => ({
  title: memory.title,
  content: memory.content,
  confidence: memory.confidence,
  importance: memory.importance,
  metadata: Object.keys(memory.metadata).length === 0 ? '' : JSON.stringify(memory.metadata, null, 2),
  expires: toInput(memory.expires_at),
})

/**
 * Returns only the fields that the user changed: somebody else may have changed the others meanwhile, and a time
 * has seconds that the form does not show.
 */
function changesOf(old: Draft, now: Draft): MemoryUpdate {
  const metadata = metadataOf(now.metadata)
  return {
    ...(now.title === old.title ? {} : { title: now.title }),
    ...(now.content === old.content ? {} : { content: now.content }),
    ...(now.confidence === old.confidence ? {} : { confidence: now.confidence }),
    ...(now.importance === old.importance ? {} : { importance: now.importance }),
    ...(now.metadata === old.metadata || 'problem' in metadata ? {} : { metadata: metadata.value }),
    ...(now.expires === old.expires ? {} : { expires_at: fromInput(now.expires) }),
  }
}

export function EditMemory({ memory, onClose }: { memory: Memory; onClose(): void }) {
  const [old] = useState(() => draftOf(memory))
  const [draft, setDraft] = useState(old)
  const update = useAction((client, body: MemoryUpdate) => client.memory.update(memory.id, body), {
    refresh: ['getMemory', 'getMemoryHistory', 'listMemories', 'searchMemories', 'listRelationships'],
    done: 'The memory is changed',
    quiet: true,
  })
  const changes = changesOf(old, draft)
  const isWrong = 'problem' in metadataOf(draft.metadata)

  function submit(event: FormEvent): void {
    event.preventDefault()
    update.mutate(changes, { onSuccess: onClose })
  }

  return (
    <Overlay title="Edit the memory" kind="drawer" onClose={onClose}>
      <form className="stack wide" onSubmit={submit}>
        <ContentFields
          draft={draft}
          error={update.error}
          isMetadataFixed={wouldChange(memory.metadata)}
          onChange={(change) => setDraft({ ...draft, ...change })}
        />
        <FormProblem error={update.error} fields={CONTENT_FIELDS} />
        <FormEnd onCancel={onClose} busy={update.isPending || isWrong || Object.keys(changes).length === 0}>
          Save
        </FormEnd>
      </form>
    </Overlay>
  )
}
