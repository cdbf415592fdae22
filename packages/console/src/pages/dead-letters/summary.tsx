// Counts of dead letters by cause, by type and by agent. Each line is a filter.
import type { DeadLetterSummary } from '@sensorium/client'
import { useState } from 'react'
import { usePrincipalName } from '../../api/agent-names.ts'
import { useCall } from '../../api/calls.ts'
import { Segments } from '../../components/segments.tsx'
import { RefreshFailed } from '../../components/states.tsx'
import { useNarrow } from '../../components/use-narrow.ts'
import { useSession } from '../../session/session.ts'
import { exactGlob } from '../agents/glob.ts'
import { CauseCount, inLongerCauses } from './cause-count.tsx'

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
  /** How many more its filter shows. */
  longer: number
}

function linesOf(summary: DeadLetterSummary, facet: Facet, nameOf: (id: string) => string): Line[] {
  const { by_reason, by_event_type, by_agent } = summary
  if (facet === 'reason')
    return by_reason.map(({ reason, count }) => {
      return { value: reason, says: reason, count, longer: inLongerCauses(reason, by_reason) }
    })
  if (facet === 'type')
    return by_event_type.map(({ event_type: says, count }) => ({ value: exactGlob(says), says, count, longer: 0 }))
  return by_agent.map(({ agent_id, count }) => ({ value: agent_id, says: nameOf(agent_id), count, longer: 0 }))
}

export function Summary({ chosen, onChoose }: SummaryProps) {
  const { kind } = useSession()
  const narrow = useNarrow()
  const [shown, setShown] = useState<Facet>('reason')
  const { data, error } = useCall('getDeadLetterSummary', {}, { every: 10_000 })
  const nameOf = usePrincipalName(data?.by_agent.slice(0, MOST).map(({ agent_id }) => agent_id) ?? [])
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
              {linesOf(data, facet, nameOf)
                .slice(0, MOST)
                .map(({ value, says, count, longer }) => (
                  <li key={value}>
                    <button
                      type="button"
                      // Not pressed if the list shows more than this line counts.
                      aria-pressed={chosen[facet] === value && longer === 0}
                      onClick={() => onChoose(facet, chosen[facet] === value ? '' : value)}
                    >
                      <span className="share" style={{ width: `${(count / data.total) * 100}%` }} />
                      <span className={facet === 'type' ? 'cut mono' : 'cut'} title={says}>
                        {says}
                      </span>
                      <CauseCount count={count} longer={longer} />
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
