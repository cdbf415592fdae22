import type { Channel, Member, MemberAdd } from '@sensorium/client'
import { useState, type FormEvent } from 'react'
import { AGENTS_KNOWN, useAgents } from '../../api/agent-names.ts'
import { useAction } from '../../api/calls.ts'
import { FormEnd } from '../../components/form-end.tsx'
import { Field, FormProblem, problemOf } from '../../components/field.tsx'

const SAYS: Record<Member['role'], string> = {
  member: 'Receives what goes through the channel',
  admin: 'Adds and removes members and feeds too',
  owner: 'Does everything, and makes other owners',
}
const FIELDS = ['participant_id', 'role']
/** The option for an agent that is not listed. */
const BY_ID = 'by id'

function hintOf(known: number, listed: number): string {
  if (known >= AGENTS_KNOWN) return `Those of the newest ${AGENTS_KNOWN} that are active and not in it yet`
  return listed === 0 ? 'Every active agent is in it already' : 'Those that are active and not in it yet'
}

interface AddMemberProps {
  channel: Channel
  /** The roles that the session may give. */
  roles: readonly Member['role'][]
  members: readonly Member[]
  onClose(): void
}

export function AddMember({ channel, roles, members, onClose }: AddMemberProps) {
  const agents = useAgents()
  const [agentId, setAgentId] = useState('')
  const [isById, setById] = useState(false)
  const [role, setRole] = useState<Member['role']>('member')
  const inside = new Set(members.map(({ participant_id }) => participant_id))
  const others = [...agents.values()]
    .filter(({ id, status }) => status === 'active' && !inside.has(id))
    .sort((a, b) => a.name.localeCompare(b.name))
  const add = useAction((client, body: MemberAdd) => client.channels.addMember(channel.id, body), {
    refresh: ['listMembers'],
    done: ({ participant_id }) => `${agents.get(participant_id)?.name ?? participant_id} is in ${channel.name}`,
    quiet: true,
  })
  function submit(event: FormEvent): void {
    event.preventDefault()
    add.mutate({ participant_type: 'agent', participant_id: agentId.trim(), role }, { onSuccess: onClose })
  }
  return (
    <form className="stack wide" onSubmit={submit}>
      <Field
        label="Agent"
        hint={hintOf(agents.size, others.length)}
        problem={isById ? undefined : problemOf(add.error, 'participant_id')}
      >
        <select
          required
          value={isById ? BY_ID : agentId}
          onChange={({ target: { value } }) => {
            setById(value === BY_ID)
            setAgentId(value === BY_ID ? '' : value)
          }}
        >
          <option value="" disabled>
            Choose one
          </option>
          {others.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
          <option value={BY_ID}>Another one, by its id</option>
        </select>
      </Field>
      {isById ? (
        <Field label="Agent id" problem={problemOf(add.error, 'participant_id')}>
          <input
            className="mono"
            required
            autoFocus
            placeholder="agt_…"
            spellCheck={false}
            value={agentId}
            onChange={({ target }) => setAgentId(target.value)}
          />
        </Field>
      ) : null}
      <Field label="Role" hint={SAYS[role]} problem={problemOf(add.error, 'role')}>
        <select value={role} onChange={(event) => setRole(event.target.value as Member['role'])}>
          {roles.map((value) => (
            <option key={value}>{value}</option>
          ))}
        </select>
      </Field>
      <FormProblem error={add.error} fields={FIELDS} />
      <FormEnd onCancel={onClose} busy={add.isPending || agentId.trim() === ''}>
        Add
      </FormEnd>
    </form>
  )
}
