import { RELATIONSHIP_TYPES, TYPE_NAMES, type RelationshipType } from '../relationship-types.ts'
import type { Network } from './network.ts'

interface LegendProps {
  network: Network
  hidden: ReadonlySet<RelationshipType>
  onToggle(type: RelationshipType): void
}

/** Explains the colours and widths. A type whose button is pressed is drawn. */
export function Legend({ network, hidden, onToggle }: LegendProps) {
  const counts = new Map<RelationshipType, number>()
  for (const { relationship_type: type } of network.edges.values()) counts.set(type, (counts.get(type) ?? 0) + 1)
  return (
    <div className="graph-legend">
      <fieldset aria-label="Relationships that are drawn">
        {TYPE_NAMES.map((type) => (
          <button key={type} type="button" aria-pressed={!hidden.has(type)} onClick={() => onToggle(type)}>
            <i className="line" style={{ background: `var(${RELATIONSHIP_TYPES[type].color})` }} />
            {RELATIONSHIP_TYPES[type].out}
            <span className="faint number">{counts.get(type) ?? 0}</span>
          </button>
        ))}
      </fieldset>
    </div>
  )
}
