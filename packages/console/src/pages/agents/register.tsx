import type { AgentCreate } from '@sensorium/client'
import { useNavigate } from '@tanstack/react-router'
import { useState, type FormEvent } from 'react'
import { FormEnd } from '../../components/form-end.tsx'
import { Field, FormProblem, problemOf } from '../../components/field.tsx'
import { Overlay } from '../../components/overlay.tsx'
import { useAction } from '../../api/calls.ts'

const MODES: readonly { value: AgentCreate['delivery_mode']; says: string }[] = [
  { value: 'poll', says: 'It asks for its deliveries' },
  { value: 'push', says: 'They are posted to its endpoint' },
  { value: 'sse', says: 'It keeps a stream open' },
]
const FIELDS = ['name', 'description', 'delivery_mode', 'client_type', 'team_id', 'external_id']

export function RegisterAgent({ onClose }: { onClose(): void }) {
  const navigate = useNavigate()
  const [agent, setAgent] = useState<AgentCreate>({ name: '', delivery_mode: 'poll', client_type: 'other' })
  const [team, setTeam] = useState('')
  const [external, setExternal] = useState('')
  const register = useAction((client, body: AgentCreate) => client.agents.register(body), {
    refresh: ['listAgents'],
    done: ({ name }) => `${name} is registered`,
    quiet: true,
  })
  const set = (change: Partial<AgentCreate>): void => setAgent({ ...agent, ...change })

  function submit(event: FormEvent): void {
    event.preventDefault()
    const body = {
      ...agent,
      ...(team.trim() === '' ? {} : { team_id: team.trim() }),
      ...(external.trim() === '' ? {} : { external_id: external.trim() }),
    }
    register.mutate(body, {
      onSuccess: ({ id }) => void navigate({ to: '/agents/$id', params: { id }, replace: true }),
    })
  }

  return (
    <Overlay title="Register an agent" onClose={onClose}>
      <form className="stack wide" onSubmit={submit}>
        <Field label="Name" problem={problemOf(register.error, 'name')}>
          <input required autoFocus value={agent.name} onChange={(event) => set({ name: event.target.value })} />
        </Field>
        <Field label="Description" problem={problemOf(register.error, 'description')}>
          <textarea
            value={agent.description ?? ''}
            onChange={(event) => set({ description: event.target.value === '' ? null : event.target.value })}
          />
        </Field>
        <Field
          label="Delivery"
          hint={MODES.find(({ value }) => value === agent.delivery_mode)?.says}
          problem={problemOf(register.error, 'delivery_mode')}
        >
          <select
            value={agent.delivery_mode}
            onChange={(event) => set({ delivery_mode: event.target.value as AgentCreate['delivery_mode'] })}
          >
            {MODES.map(({ value }) => (
              <option key={value} value={value}>
                {value}
              </option>
            ))}
          </select>
        </Field>
        <Field
          label="Client type"
          hint="The chat client it runs in, or other."
          problem={problemOf(register.error, 'client_type')}
        >
          <input value={agent.client_type} onChange={(event) => set({ client_type: event.target.value })} />
        </Field>
        <div className="columns even">
          <Field label="Team" hint="It sees what its team remembers." problem={problemOf(register.error, 'team_id')}>
            <input value={team} onChange={(event) => setTeam(event.target.value)} />
          </Field>
          <Field
            label="External id"
            hint="Its id in a system of yours. With one, its team can be changed later."
            problem={problemOf(register.error, 'external_id')}
          >
            <input spellCheck={false} value={external} onChange={(event) => setExternal(event.target.value)} />
          </Field>
        </div>
        <FormProblem error={register.error} fields={FIELDS} />
        <FormEnd onCancel={onClose} busy={register.isPending}>
          Register
        </FormEnd>
      </form>
    </Overlay>
  )
}
