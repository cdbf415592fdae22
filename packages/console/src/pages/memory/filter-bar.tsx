import { SearchBox } from '../../components/search-box.tsx'
import { isFiltered, SCOPES, STATUSES, TYPES, type Filters } from './filters.ts'

interface ChoiceProps {
  label: string
  value: string | undefined
  options: readonly string[]
  /** The text shown when nothing is chosen. */
  all: string
  onChange(value: string): void
}

function Choice({ label, value, options, all, onChange }: ChoiceProps) {
  return (
    <select
      className="input"
      aria-label={label}
      value={options.find((option) => option === value) ?? ''}
      onChange={(event) => onChange(event.target.value)}
    >
      <option value="">{all}</option>
      {options.map((option) => (
        <option key={option} value={option}>
          {option}
        </option>
      ))}
    </select>
  )
}

interface DayProps {
  text: string
  label: string
  value: string | undefined
  onChange(value: string): void
}

function Day({ text, label, value = '', onChange }: DayProps) {
  return (
    <label className="day">
      <span className="quiet small">{text}</span>
      <input
        className="input"
        type="date"
        aria-label={label}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </label>
  )
}

const CLEAR = { scope: '', type: '', project: '', after: '', before: '', status: '' }

/**
 * Every filter is in the address. Only live memories can be searched, so a question and a status exclude each other.
 */
export function FilterBar({ filters, onChange }: { filters: Filters; onChange(change: Filters): void }) {
  return (
    <div className="filters memory-filters">
      <SearchBox
        label="Search by meaning"
        value={filters.q ?? ''}
        onChange={(text) => onChange(text === '' ? { q: '' } : { q: text, status: '' })}
      />
      <Choice
        label="Scope"
        all="Any scope"
        value={filters.scope}
        options={SCOPES}
        onChange={(scope) => onChange({ scope })}
      />
      <Choice
        label="Type"
        all="Any type"
        value={filters.type}
        options={TYPES}
        onChange={(type) => onChange({ type })}
      />
      <Choice
        label="Status"
        all="Active"
        value={filters.status}
        options={STATUSES.filter((status) => status !== 'active')}
        onChange={(status) => onChange(status === '' ? { status } : { status, q: '' })}
      />
      <input
        className="input"
        aria-label="Project"
        placeholder="Project"
        value={filters.project ?? ''}
        onChange={(event) => onChange({ project: event.target.value })}
      />
      <div className="days">
        <Day text="from" label="Created from" value={filters.after} onChange={(after) => onChange({ after })} />
        <Day text="to" label="Created until" value={filters.before} onChange={(before) => onChange({ before })} />
      </div>
      {isFiltered(filters) ? (
        <button type="button" className="button bare" onClick={() => onChange(CLEAR)}>
          Clear filters
        </button>
      ) : null}
    </div>
  )
}
