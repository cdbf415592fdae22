import type { Memory, MemoryCreate } from '@sensorium/client'
import { useNavigate } from '@tanstack/react-router'
import { useState, type FormEvent } from 'react'
import { useAction } from '../../api/calls.ts'
import { FormEnd } from '../../components/form-end.tsx'
import { Field, FormProblem, problemOf } from '../../components/field.tsx'
import { Overlay } from '../../components/overlay.tsx'
import { SCOPES, TYPES } from './filters.ts'
import { CONTENT_FIELDS, ContentFields, metadataOf, type Draft } from './form.tsx'
import { fromInput } from './moments.ts'

const TYPE_SAYS = {
  episodic: 'Something that happened.',
  semantic: 'Something that is so.',
  procedural: 'How something is done.',
  entity: 'Who or what somebody or something is.',
  reflection: 'What was learned from other memories.',
  reasoning: 'Why something was decided.',
} as const satisfies Record<Memory['type'], string>

const FIELDS = [...CONTENT_FIELDS, 'type', 'scope', 'team_id', 'project_id']
const NEW: Draft = { title: '', content: '', confidence: 1, importance: 0.5, metadata: '', expires: '' }

export function Remember({ onClose }: { onClose(): void }) {
  const navigate = useNavigate()
  const [draft, setDraft] = useState(NEW)
  const [type, setType] = useState<Memory['type']>('semantic')
  const [scope, setScope] = useState<Memory['scope']>('agent')
  const [team, setTeam] = useState('')
  const [project, setProject] = useState('')
  const remember = useAction((client, memory: MemoryCreate) => client.memory.remember(memory), {
    refresh: ['listMemories', 'searchMemories'],
    done: ({ title }) => `Remembered: ${title}`,
    quiet: true,
  })
  const metadata = metadataOf(draft.metadata)

  function submit(event: FormEvent): void {
    event.preventDefault()
    if ('problem' in metadata) return
    const { title, content, confidence, importance, expires } = draft
    remember.mutate(
      {
        type,
        scope,
        title,
        content,
        confidence,
        importance,
        metadata: metadata.value,
        expires_at: fromInput(expires),
        ...(scope === 'team' && team.trim() !== '' ? { team_id: team.trim() } : {}),
        ...(project.trim() === '' ? {} : { project_id: project.trim() }),
      },
      { onSuccess: ({ id }) => void navigate({ to: '/memory/$id', params: { id }, replace: true }) },
    )
  }

  return (
    <Overlay title="Remember something" kind="drawer" onClose={onClose}>
      <form className="stack wide" onSubmit={submit}>
        <ContentFields draft={draft} error={remember.error} onChange={(change) => setDraft({ ...draft, ...change })} />
        <div className="columns even">
          <Field label="Type" hint={TYPE_SAYS[type]} problem={problemOf(remember.error, 'type')}>
            <select value={type} onChange={(event) => setType(event.target.value as Memory['type'])}>
              {TYPES.map((value) => (
                <option key={value}>{value}</option>
              ))}
            </select>
          </Field>
          <Field label="Scope" hint="It can be widened later." problem={problemOf(remember.error, 'scope')}>
            <select value={scope} onChange={(event) => setScope(event.target.value as Memory['scope'])}>
              {SCOPES.map((value) => (
                <option key={value}>{value}</option>
              ))}
            </select>
          </Field>
          {scope === 'team' ? (
            <Field label="Team" hint="Left empty, that of the key." problem={problemOf(remember.error, 'team_id')}>
              <input value={team} onChange={(event) => setTeam(event.target.value)} />
            </Field>
          ) : null}
          <Field label="Project" problem={problemOf(remember.error, 'project_id')}>
            <input value={project} onChange={(event) => setProject(event.target.value)} />
          </Field>
        </div>
        <FormProblem error={remember.error} fields={FIELDS} />
        <FormEnd onCancel={onClose} busy={remember.isPending || 'problem' in metadata}>
          Remember
        </FormEnd>
      </form>
    </Overlay>
  )
}
