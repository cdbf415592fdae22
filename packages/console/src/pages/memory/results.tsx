import type { SearchResult } from '@sensorium/client'
import { Link } from '@tanstack/react-router'
import { usePrincipalName } from '../../api/agent-names.ts'
import { useCall } from '../../api/calls.ts'
import { Empty, QueryResult } from '../../components/states.tsx'
import { Time } from '../../components/time.tsx'
import { ScopeBadge, TypeBadge } from './badges.tsx'
import { searchBody, type Filters } from './filters.ts'
import { Signals } from './signals.tsx'
import { useSettled } from '../../components/use-settled.ts'

function Result({ result: { memory, score, signals }, owner }: { result: SearchResult; owner: string }) {
  return (
    <li>
      <Link className="result" to="/memory/$id" params={{ id: memory.id }}>
        <div className="row apart">
          <strong className="cut" dir="auto">
            {memory.title}
          </strong>
          <span className="score number" title="Score, 0 to 1">
            {score.toFixed(2)}
          </span>
        </div>
        <p className="quiet excerpt" dir="auto">
          {memory.content}
        </p>
        <div className="under">
          <div className="row wrap small quiet">
            <TypeBadge type={memory.type} />
            <ScopeBadge scope={memory.scope} team_id={memory.team_id} />
            <span className="cut" dir="auto">
              {owner}
            </span>
            {memory.project_id === null ? null : (
              <span className="cut" dir="auto">
                {memory.project_id}
              </span>
            )}
            <Time at={memory.created_at} />
          </div>
          {signals === undefined ? null : <Signals of={signals} />}
        </div>
      </Link>
    </li>
  )
}

export function Results({ query, filters }: { query: string; filters: Filters }) {
  const settled = useSettled(query)
  const found = useCall('searchMemories', { body: searchBody(settled, filters) }, { keep: true })
  const owner = usePrincipalName(found.data?.results.map(({ memory }) => memory.agent_id) ?? [])
  return (
    <QueryResult of={found} lines={8}>
      {({ results }) =>
        results.length === 0 ? (
          <Empty title="Nothing was found">
            No memory that you may see is near this question. Ask in other words, or take a filter away.
          </Empty>
        ) : (
          <section className="results" aria-label="Results" aria-busy={found.isPlaceholderData}>
            <ol>
              {results.map((result) => (
                <Result key={result.memory.id} result={result} owner={owner(result.memory.agent_id)} />
              ))}
            </ol>
            <p className="faint small number" aria-live="polite">
              {results.length} {results.length === 1 ? 'memory' : 'memories'}, best first
            </p>
          </section>
        )
      }
    </QueryResult>
  )
}
