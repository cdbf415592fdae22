import type { Agent, Interest } from '@sensorium/client'
import { useState } from 'react'
import { Badge } from '../../components/badge.tsx'
import { DeleteButton } from '../../components/delete-button.tsx'
import { PlusIcon } from '../../components/icons.tsx'
import { Confirm, Overlay } from '../../components/overlay.tsx'
import { Panel } from '../../components/panel.tsx'
import { Empty, QueryResult } from '../../components/states.tsx'
import { Subscription } from '../../components/subscription.tsx'
import { useAction, useCall } from '../../api/calls.ts'
import { useSession } from '../../session/session.ts'
import { NewInterest } from './new-interest.tsx'
import './agents.css'

export function Interests({ agent }: { agent: Agent }) {
  const { can, isSelf } = useSession()
  const mayWrite = can('interests:write') && (can('admin') || isSelf(agent.id))
  const interests = useCall('listInterests', { params: { id: agent.id } })
  const [isAdding, setAdding] = useState(false)
  const [leaving, setLeaving] = useState<Interest | null>(null)
  const remove = useAction((client, id: string) => client.interests.delete(agent.id, id), {
    refresh: ['listInterests'],
    done: 'The interest is gone',
  })
  return (
    <Panel
      title="Interests"
      count={interests.data?.interests.length}
      flush
      actions={
        mayWrite && agent.status === 'active' ? (
          <button type="button" className="button slim" onClick={() => setAdding(true)}>
            <PlusIcon /> Add
          </button>
        ) : null
      }
    >
      <QueryResult of={interests}>
        {({ interests: list }) =>
          list.length === 0 ? (
            <Empty title="It wants nothing yet">
              An interest is a pattern over event types, with a filter over the data if you like. Without one, only
              events of its channels reach this agent.
            </Empty>
          ) : (
            <ul className="lines">
              {list.map((interest) => (
                <li key={interest.id} className="row">
                  <Subscription type={interest.event_type} filter={interest.filter_expression} />
                  {interest.priority === 0 ? null : <Badge plain>priority {interest.priority}</Badge>}
                  {interest.enrichment_depth === 'none' ? null : (
                    <Badge plain>{interest.enrichment_depth} memory</Badge>
                  )}
                  {mayWrite ? (
                    <DeleteButton
                      label={`Delete the interest in ${interest.event_type}`}
                      onClick={() => setLeaving(interest)}
                    />
                  ) : null}
                </li>
              ))}
            </ul>
          )
        }
      </QueryResult>
      {isAdding ? (
        <Overlay title="Add an interest" kind="drawer" onClose={() => setAdding(false)}>
          <NewInterest agent={agent} onClose={() => setAdding(false)} />
        </Overlay>
      ) : null}
      {leaving === null ? null : (
        <Confirm
          title="Delete this interest?"
          verb="Delete"
          danger
          busy={remove.isPending}
          onConfirm={() => remove.mutate(leaving.id, { onSettled: () => setLeaving(null) })}
          onClose={() => setLeaving(null)}
        >
          Events of the type <code>{leaving.event_type}</code> no longer reach {agent.name} through it. What was
          delivered already stays.
        </Confirm>
      )}
    </Panel>
  )
}
