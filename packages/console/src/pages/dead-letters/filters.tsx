import { useAgents, usePrincipalName } from '../../api/agent-names.ts'
import { useCall } from '../../api/calls.ts'
import { SearchBox } from '../../components/search-box.tsx'
import { useSession } from '../../session/session.ts'
import type { Facet } from './summary.tsx'

interface FiltersProps {
  chosen: Readonly<Record<Facet, string>>
  onChange(change: Partial<Record<Facet, string>>): void
}

export function Filters({ chosen: { reason, type, agent }, onChange }: FiltersProps) {
  const { kind } = useSession()
  const agents = useAgents()
  const summary = useCall('getDeadLetterSummary', {}, { enabled: kind === 'org_admin' })
  // Includes those who have dead letters and the one from the address, even if they are none of the newest agents.
  const having = summary.data?.by_agent.map(({ agent_id }) => agent_id) ?? []
  const others = agent === '' ? having : [agent, ...having]
  const nameOf = usePrincipalName(others)
  const ids = [...new Set([...agents.keys(), ...others])]
  return (
    <div className="filters">
      <SearchBox label="Filter by reason" value={reason} onChange={(text) => onChange({ reason: text })} />
      <input
        className="input mono dead-type"
        aria-label="Type pattern"
        placeholder="com.plant.*"
        spellCheck={false}
        value={type}
        onChange={(event) => onChange({ type: event.target.value })}
      />
      {kind === 'org_admin' ? (
        <select
          className="input dead-agent"
          aria-label="Agent"
          value={agent}
          onChange={(event) => onChange({ agent: event.target.value })}
        >
          <option value="">Every agent</option>
          {ids.map((id) => (
            <option key={id} value={id}>
              {nameOf(id)}
            </option>
          ))}
        </select>
      ) : null}
      {reason + type + agent === '' ? null : (
        <button type="button" className="button bare" onClick={() => onChange({ reason: '', type: '', agent: '' })}>
          Clear
        </button>
      )}
    </div>
  )
}
