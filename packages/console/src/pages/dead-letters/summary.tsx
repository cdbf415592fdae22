// Counts of dead letters by cause, by type and by agent. Each line is a filter.
import type { DeadLetterSummary } from '@sensorium/client'
import { useState } from 'react'
import { useAgents } from '../../api/agent-names.ts'
import { useCall } from '../../api/calls.ts'
import { Segments } from '../../components/segments.tsx'
import { RefreshFailed } from '../../components/states.tsx'
import { useNarrow } from '../../components/use-narrow.ts'
import { useSession } from '../../session/session.ts'
import { exactGlob } from '../agents/glob.ts'

export type Facet = 'reason' | 'type' | 'agent'

interface SummaryProps {
  chosen: Readonly<Record<Facet, string>>
  onChoose(facet: Facet, value: string): void
}

const NAMES: Record<Facet, string> = { reason: 'Cause', type: 'Type', agent: 'Agent' }
const MOST = 5

interface Line {
  value: string
  says: string
  count: number
}

function linesOf(summary: DeadLetterSummary, facet: Facet, nameOf: (id: string) => string): Line[] {
  if (facet === 'reason') return summary.by_reason.map(({ reason, count }) => ({ value: reason, says: reason, count }))
  if (facet === 'type')
    return summary.by_event_type.map(({ event_type: says, count }) => ({ value: exactGlob(says), says, count }))
  return summary.by_agent.map(({ agent_id, count }) => ({ value: agent_id, says: nameOf(agent_id), count }))
}

export function Summary({ chosen, onChoose }: SummaryProps) {
  const { kind } = useSession()
  const agents = useAgents()
  const narrow = useNarrow()
  const [shown, setShown] = useState<Facet>('reason')
  const { data, error } = useCall('getDeadLetterSummary', {}, { every: 10_000 })
  if (data === undefined || data.total === 0) return <RefreshFailed error={error} />
  const facets: Facet[] = kind === 'agent' ? ['reason', 'type'] : ['reason', 'type', 'agent']
  return (
    <>
      <RefreshFailed error={error} />
      <div className="dead-summary">
        {narrow ? (
          <Segments<Facet>
            label="Count by"
            value={shown}
            options={facets.map((value) => ({ value, label: `By ${NAMES[value].toLowerCase()}` }))}
            onChange={setShown}
          />
        ) : null}
        {(narrow ? [shown] : facets).map((facet) => (
          <section key={facet} aria-label={`By ${NAMES[facet].toLowerCase()}`}>
            {narrow ? null : <h2 className="quiet small">{NAMES[facet]}</h2>}
            <ul>
              {linesOf(data, facet, (id) => agents.get(id)?.name ?? id)
                .slice(0, MOST)
                .map(({ value, says, count }) => (
                  <li key={value}>
                    <button
                      type="button"
                      aria-pressed={chosen[facet] === value}
                      onClick={() => onChoose(facet, chosen[facet] === value ? '' : value)}
                    >
                      <span className="share" style={{ width: `${(count / data.total) * 100}%` }} />
                      <span className={facet === 'type' ? 'cut mono' : 'cut'} title={says}>
                        {says}
                      </span>
                      <span className="number">{count.toLocaleString()}</span>
                    </button>
                  </li>
                ))}
            </ul>
          </section>
        ))}
      </div>
    </>
  )
}
