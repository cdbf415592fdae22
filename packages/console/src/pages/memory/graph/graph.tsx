// The graph of relationships, starting from one memory or from the memories of a filter.
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { counted } from '../../../components/counted.ts'
import { PageFrame } from '../../../components/page.tsx'
import { loadedPart } from '../../../components/part.tsx'
import { Empty, Failed, Loading } from '../../../components/states.tsx'
import type { RelationshipType } from '../relationship-types.ts'
import { Legend } from './legend.tsx'
import { MOST_NODES } from './network.ts'
import { Side } from './side.tsx'
import { useNetwork } from './use-network.ts'
import '../memory.css'
import './graph.css'

const Canvas = loadedPart('graph', () => import('./graph-canvas.tsx'))
const route = getRouteApi('/memory/graph')

export function GraphPage() {
  const { of, at, ...filters } = route.useSearch()
  const navigate = route.useNavigate()
  const { network, error, isPending, waiting, expand } = useNetwork(of, filters)
  const [towards, setTowards] = useState<string | undefined>(undefined)
  const [hidden, setHidden] = useState<ReadonlySet<RelationshipType>>(new Set())
  const selected = at !== undefined && network.nodes.has(at) ? at : undefined
  const folded = [...network.nodes.values()].filter(({ isExpanded }) => !isExpanded).map(({ memory }) => memory.id)

  function choose(id: string | undefined, isInList: boolean): void {
    setTowards(isInList ? id : undefined)
    void navigate({ search: (old) => ({ ...old, at: id ?? '' }), replace: true })
    if (id !== undefined) expand([id])
  }
  function toggle(type: RelationshipType): void {
    const next = new Set(hidden)
    if (!next.delete(type)) next.add(type)
    setHidden(next)
  }

  return (
    <PageFrame
      title="Graph"
      full
      back={of === undefined ? { to: '/memory', label: 'memories' } : { to: `/memory/${of}`, label: 'the memory' }}
      beside={
        <span className="quiet small number" role="status">
          {counted(network.nodes.size, 'memory', 'memories')}, {counted(network.edges.size, 'relationship')}
          {waiting.size > 0 ? ', more on their way' : ''}
          {network.leftOut.size > 0
            ? `, ${network.isCut ? 'at least ' : ''}${network.leftOut.size} left out past ${MOST_NODES}`
            : ''}
        </span>
      }
      actions={
        folded.length > 0 && waiting.size === 0 && network.nodes.size < MOST_NODES ? (
          <button type="button" className="button" onClick={() => expand(folded)}>
            Expand all {folded.length}
          </button>
        ) : undefined
      }
    >
      {error !== null ? (
        <Failed error={error} />
      ) : isPending ? (
        <Loading lines={8} />
      ) : network.nodes.size === 0 ? (
        <Empty title="There is nothing to draw">No memory fits, or none is there yet.</Empty>
      ) : (
        <>
          <Legend network={network} hidden={hidden} onToggle={toggle} />
          <div className="graph">
            <Canvas
              instead={<div className="graph-stage skeleton" />}
              network={network}
              selected={selected}
              hidden={hidden}
              towards={towards}
              onChoose={(id) => choose(id, false)}
            />
            <Side
              network={network}
              waiting={waiting}
              selected={selected}
              onChoose={(id) => choose(id, true)}
              onExpand={(id) => expand([id])}
            />
          </div>
        </>
      )}
    </PageFrame>
  )
}
