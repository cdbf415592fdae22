import type { Channel, Member, MemberAdd } from '@sensorium/client'
import { useState, type FormEvent } from 'react'
import { useAgents } from '../../api/agent-names.ts'
import { useAction } from '../../api/calls.ts'
import { FormEnd } from '../../components/form-end.tsx'
import { Field, FormProblem, problemOf } from '../../components/field.tsx'

const SAYS: Record<Member['role'], string> = {
  member: 'Receives what goes through the channel',
  admin: 'Adds and removes members and feeds too',
  owner: 'Does everything, and makes other owners',
}
const FIELDS = ['participant_id', 'role']

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
        hint={others.length === 0 ? 'Every active agent is in it already' : 'Those that are active and not in it yet'}
        problem={problemOf(add.error, 'participant_id')}
      >
        <select required value={agentId} onChange={(event) => setAgentId(event.target.value)}>
          <option value="" disabled>
            Choose one
          </option>
          {others.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </Field>
      <Field label="Role" hint={SAYS[role]} problem={problemOf(add.error, 'role')}>
        <select value={role} onChange={(event) => setRole(event.target.value as Member['role'])}>
          {roles.map((value) => (
            <option key={value}>{value}</option>
          ))}
        </select>
      </Field>
      <FormProblem error={add.error} fields={FIELDS} />
      <FormEnd onCancel={onClose} disabled={add.isPending || agentId === ''}>
        Add
      </FormEnd>
    </form>
  )
}
