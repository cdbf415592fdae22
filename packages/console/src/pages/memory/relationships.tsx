import type { Memory, RelatedMemory } from '@sensorium/client'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useAction, useCall } from '../../api/calls.ts'
import { DeleteButton } from '../../components/delete-button.tsx'
import { MemoryIcon, PlusIcon } from '../../components/icons.tsx'
import { Panel } from '../../components/panel.tsx'
import { Empty, QueryResult } from '../../components/states.tsx'
import { useSession } from '../../session/session.ts'
import { useMayChange } from './may-change.ts'
import { countOfRelated } from './most-related.ts'
import { Relate } from './relate.tsx'
import { RelationshipMark } from './relationship-mark.tsx'

const ofMemory = (id: string) => ({ params: { id }, query: { depth: 1, direction: 'both' } }) as const

export function Relationships({ memory }: { memory: Memory }) {
  const { can } = useSession()
  const [isAdding, setAdding] = useState(false)
  const related = useCall('listRelationships', ofMemory(memory.id))
  return (
    <Panel
      title="Relationships"
      count={related.data && countOfRelated(related.data.count)}
      flush
      actions={
        <>
          <Link className="button slim" to="/memory/graph" search={{ of: memory.id, at: memory.id }}>
            <MemoryIcon /> Graph
          </Link>
          {can('memory:write') ? (
            <button type="button" className="button slim" onClick={() => setAdding(true)}>
              <PlusIcon /> Relate
            </button>
          ) : null}
        </>
      }
    >
      <QueryResult of={related}>
        {({ relationships }) =>
          relationships.length === 0 ? (
            <Empty title="It is related to nothing yet">
              A relationship says how two memories belong together: one supports, contradicts or caused the other. What
              is related is found along with it.
            </Empty>
          ) : (
            <ul className="memory-lines">
              {relationships.map((item) => (
                <Related key={item.relationship.id} memory={memory} item={item} />
              ))}
            </ul>
          )
        }
      </QueryResult>
      {isAdding ? <Relate memory={memory} onClose={() => setAdding(false)} /> : null}
    </Panel>
  )
}

function Related({ memory, item }: { memory: Memory; item: RelatedMemory }) {
  const { relationship, memory: other } = item
  const mayChange = useMayChange()
  const isOut = relationship.source_memory_id === memory.id
  const remove = useAction((client) => client.memory.unrelate(relationship.source_memory_id, relationship.id), {
    refresh: ['listRelationships'],
    done: 'The relationship is gone',
  })
  return (
    <li className="row">
      <RelationshipMark type={relationship.relationship_type} strength={relationship.strength} isOut={isOut} />
      <Link
        className="grow plain cut"
        dir="auto"
        to="/memory/$id"
        params={{ id: other.id }}
        title={other.content.slice(0, 300)}
      >
        {other.title}
      </Link>
      <span className="faint small number" title="Strength, 0 to 1">
        {relationship.strength.toFixed(2)}
      </span>
      {mayChange(isOut ? memory : other) ? (
        <DeleteButton
          label={`Delete the relationship with ${other.title}`}
          busy={remove.isPending}
          onClick={() => remove.mutate()}
        />
      ) : null}
    </li>
  )
}
