// Everything that is drawn, as text: the chosen memory with its relationships, and all memories to choose from.
import { Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { Panel } from '../../../components/panel.tsx'
import { SearchBox } from '../../../components/search-box.tsx'
import { ScopeBadge, TypeBadge } from '../badges.tsx'
import { RelationshipMark } from '../relationship-mark.tsx'
import { degrees, edgesOf, type Network } from './network.ts'

interface SideProps {
  network: Network
  /** Memories whose relationships are being fetched. */
  waiting: ReadonlySet<string>
  selected: string | undefined
  onChoose(id: string | undefined): void
  onExpand(id: string): void
}

function Chosen({ network, waiting, id, onChoose, onExpand }: Omit<SideProps, 'selected'> & { id: string }) {
  const { memory, isExpanded, isWhole } = network.nodes.get(id)!
  const edges = edgesOf(network, id)
  return (
    <Panel
      title={memory.title}
      flush
      actions={
        <>
          <Link className="button slim" to="/memory/$id" params={{ id }}>
            Open
          </Link>
          <button type="button" className="button bare slim" onClick={() => onChoose(undefined)}>
            Let go
          </button>
        </>
      }
    >
      <div className="stack graph-chosen">
        <div className="row wrap">
          <TypeBadge type={memory.type} />
          <ScopeBadge scope={memory.scope} team_id={memory.team_id} />
        </div>
        <p className="quiet" dir="auto">
          {memory.content.slice(0, 280)}
        </p>
      </div>
      <ul className="memory-lines" aria-label={`Relationships of ${memory.title}`}>
        {edges.map((edge) => {
          const isOut = edge.source_memory_id === id
          const other = network.nodes.get(isOut ? edge.target_memory_id : edge.source_memory_id)!.memory
          return (
            <li key={edge.id} className="row">
              <RelationshipMark type={edge.relationship_type} strength={edge.strength} isOut={isOut} />
              <button type="button" className="text cut grow" dir="auto" onClick={() => onChoose(other.id)}>
                {other.title}
              </button>
            </li>
          )
        })}
        {isWhole ? null : isExpanded ? (
          <li className="faint small row">It may have more relationships than are shown here.</li>
        ) : waiting.has(id) ? (
          <li className="faint small row">Its other relationships are on their way…</li>
        ) : (
          <li className="row">
            <button type="button" className="button slim" onClick={() => onExpand(id)}>
              Fetch its other relationships
            </button>
          </li>
        )}
        {isWhole && edges.length === 0 ? <li className="faint small row">It is related to nothing.</li> : null}
      </ul>
    </Panel>
  )
}

export function Side({ network, waiting, selected, onChoose, onExpand }: SideProps) {
  const [typed, setTyped] = useState('')
  const counts = useMemo(() => degrees(network), [network])
  const shown = useMemo(() => {
    const text = typed.toLowerCase()
    return [...network.nodes.values()]
      .filter(({ memory }) => memory.title.toLowerCase().includes(text))
      .sort((a, b) => (counts.get(b.memory.id) ?? 0) - (counts.get(a.memory.id) ?? 0))
  }, [network, counts, typed])
  return (
    <div className="graph-side">
      {selected !== undefined && network.nodes.has(selected) ? (
        <Chosen network={network} waiting={waiting} id={selected} onChoose={onChoose} onExpand={onExpand} />
      ) : null}
      <Panel title="Memories" count={shown.length} flush>
        <div className="graph-find">
          <SearchBox label="Find in the graph" value={typed} onChange={setTyped} />
        </div>
        <ul className="graph-nodes">
          {shown.map(({ memory, isWhole }) => (
            <li key={memory.id}>
              <button type="button" aria-pressed={memory.id === selected} onClick={() => onChoose(memory.id)}>
                <i className={isWhole ? 'dot expanded' : 'dot'} />
                <span className="cut grow" dir="auto">
                  {memory.title}
                </span>
                <span className="quiet small number">
                  {counts.get(memory.id) ?? 0}
                  {isWhole ? '' : '+'}
                </span>
              </button>
            </li>
          ))}
        </ul>
      </Panel>
    </div>
  )
}
