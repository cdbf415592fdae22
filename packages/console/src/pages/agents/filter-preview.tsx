import type { Agent } from '@sensorium/client'
import { Badge } from '../../components/badge.tsx'
import { counted } from '../../components/counted.ts'
import { QueryResult } from '../../components/states.tsx'
import { Time } from '../../components/time.tsx'
import { useRecentEvents } from './use-recent-events.ts'
import { globMatches } from './glob.ts'
import type { Mistake, TriedFilter } from '../../components/try-filter.ts'

function MistakeAt({ source, mistake: { line, column, reason } }: { source: string; mistake: Mistake }) {
  // A mistake of the text before is shown until the new text was tried, and may be on a line that is gone.
  const text = source.split('\n')[line - 1] ?? ''
  // As wide as what stands before the mistake: a tab stays a tab.
  const before = [...text]
    .slice(0, column - 1)
    .join('')
    .replace(/\S/gu, ' ')
  return (
    <pre className="filter-mistake" role="alert">
      {text}
      {'\n'}
      <span className="here">
        {before}^ {reason} (line {line}, column {column})
      </span>
    </pre>
  )
}

interface PreviewProps {
  agent: Agent
  glob: string
  source: string
  tried: TriedFilter
}

/** Shows which of the latest events would have been delivered, and why the others would not. */
export function FilterPreview({ agent, glob, source, tried }: PreviewProps) {
  const recent = useRecentEvents(agent)
  return (
    <div className="stack">
      {tried.mistake === null ? null : <MistakeAt source={source} mistake={tried.mistake} />}
      <QueryResult of={recent} lines={2}>
        {(events) => {
          const results = events.map((event) => {
            const fits = glob === '' || globMatches(glob, event.type)
            return { event, ...(fits ? tried.test(event) : { matches: false, why: 'another type' }) }
          })
          const matching = results.filter(({ matches }) => matches).length
          if (events.length === 0) return <p className="quiet small">There are no recent events to try it against.</p>
          return (
            <div className="stack tight" aria-live="polite">
              <span className="quiet small">
                Would have received {matching} of the latest {counted(events.length, 'event')}
              </span>
              <ul className="tried">
                {results.slice(0, 8).map(({ event, matches, why }) => (
                  <li key={event.id}>
                    <Badge tone={matches ? 'good' : undefined}>{matches ? 'yes' : 'no'}</Badge>
                    <code className="cut">{event.type}</code>
                    <span className="grow faint small cut">{matches ? '' : why}</span>
                    <span className="faint small">
                      <Time at={event.time} />
                    </span>
                  </li>
                ))}
              </ul>
            </div>
          )
        }}
      </QueryResult>
    </div>
  )
}
