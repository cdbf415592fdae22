import { useState } from 'react'
import { isOrgAdmin, useAgents } from '../../api/agent-names.ts'
import { useSession } from '../../session/session.ts'
import { AUDITED, titleOfAction } from './actions.ts'
import type { AuditEntry, AuditSearch } from './query.ts'

interface AuditFiltersProps {
  search: AuditSearch
  /** Those that are shown. */
  entries: readonly AuditEntry[]
  nameOf(actor: string): string
  onSearch(change: AuditSearch): void
}

const NONE: AuditSearch = { actor: '', action: '', since: '', until: '' }

/** Returns the org-admin of the tenant, once an entry of theirs was shown: no operation returns their id. */
function useOrgAdmin(entries: readonly AuditEntry[]): readonly string[] {
  const [id, setId] = useState<string>()
  const shown = entries.find(({ actor }) => isOrgAdmin(actor))?.actor
  if (shown !== undefined && shown !== id) setId(shown)
  return id === undefined ? [] : [id]
}

export function AuditFilters({ search, entries, nameOf, onSearch }: AuditFiltersProps) {
  const { actor = '', action = '', since = '', until = '' } = search
  const { kind } = useSession()
  const agents = useAgents(kind !== 'operator')
  // Includes the actor from the address, even if it is none of the agents.
  const actors = [...new Set(['operator', ...useOrgAdmin(entries), ...agents.keys(), ...(actor === '' ? [] : [actor])])]
  return (
    <div className="filters">
      <select
        className="input audit-actor"
        aria-label="Who"
        value={actor}
        onChange={({ target }) => onSearch({ actor: target.value })}
      >
        <option value="">Everybody</option>
        {actors.map((id) => (
          <option key={id} value={id}>
            {nameOf(id)}
          </option>
        ))}
      </select>
      <select
        className="input audit-action"
        aria-label="Action"
        value={action}
        onChange={({ target }) => onSearch({ action: target.value })}
      >
        <option value="">Every change</option>
        {AUDITED.map((name) => (
          <option key={name} value={name}>
            {titleOfAction(name)}
          </option>
        ))}
      </select>
      <div className="days">
        <label className="row quiet small">
          from
          <input
            className="input"
            type="date"
            value={since}
            max={until}
            onChange={({ target }) => onSearch({ since: target.value })}
          />
        </label>
        <label className="row quiet small">
          to
          <input
            className="input"
            type="date"
            value={until}
            min={since}
            onChange={({ target }) => onSearch({ until: target.value })}
          />
        </label>
      </div>
      {actor + action + since + until === '' ? null : (
        <button type="button" className="button bare" onClick={() => onSearch(NONE)}>
          Clear
        </button>
      )}
    </div>
  )
}
