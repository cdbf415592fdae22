import type { Memory } from '@sensorium/client'
import { useState, type FormEvent } from 'react'
import { useAction } from '../../api/calls.ts'
import { FormEnd } from '../../components/form-end.tsx'
import { Field, FormProblem, problemOf } from '../../components/field.tsx'
import { Overlay } from '../../components/overlay.tsx'

type Wider = 'team' | 'institutional'

const SAYS = {
  team: 'Agents of that team will see it.',
  institutional: 'Every agent of the tenant will see it.',
} as const satisfies Record<Wider, string>

/** Returns the scopes that a memory can be promoted to: a scope only widens. */
export const widerThan = (scope: Memory['scope']): readonly Wider[] =>
  scope === 'agent' ? ['team', 'institutional'] : scope === 'team' ? ['institutional'] : []

export function PromoteMemory({ memory, onClose }: { memory: Memory; onClose(): void }) {
  const wider = widerThan(memory.scope)
  const [scope, setScope] = useState<Wider>(wider[0] ?? 'institutional')
  const [team, setTeam] = useState('')
  const promote = useAction(
    (client) => client.memory.promote(memory.id, scope, scope === 'team' ? team.trim() : undefined),
    {
      refresh: ['getMemory', 'getMemoryHistory', 'listMemories', 'searchMemories', 'listRelationships'],
      done: ({ scope: now, team_id }) => (now === 'team' ? `Shared with the team ${team_id}` : 'Shared with everybody'),
      quiet: true,
    },
  )

  function submit(event: FormEvent): void {
    event.preventDefault()
    promote.mutate(undefined, { onSuccess: onClose })
  }

  return (
    <Overlay title="Promote the memory" onClose={onClose}>
      <form className="stack wide" onSubmit={submit}>
        <Field label="Scope" hint={`${SAYS[scope]} A scope only widens.`} problem={problemOf(promote.error, 'scope')}>
          <select value={scope} onChange={(event) => setScope(event.target.value as Wider)}>
            {wider.map((value) => (
              <option key={value}>{value}</option>
            ))}
          </select>
        </Field>
        {scope === 'team' ? (
          <Field label="Team" problem={problemOf(promote.error, 'team_id')}>
            <input required value={team} onChange={(event) => setTeam(event.target.value)} />
          </Field>
        ) : null}
        <FormProblem error={promote.error} fields={['scope', 'team_id']} />
        <FormEnd onCancel={onClose} busy={promote.isPending || (scope === 'team' && team.trim() === '')}>
          Promote
        </FormEnd>
      </form>
    </Overlay>
  )
}
