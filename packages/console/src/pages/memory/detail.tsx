// One memory: its content, its relationships, its history and its actions.
import type { Memory } from '@sensorium/client'
import { useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { usePrincipalName } from '../../api/agent-names.ts'
import { useAction, useCall } from '../../api/calls.ts'
import { CopyButton } from '../../components/copy.tsx'
import { useDialogIsOpen } from '../../components/modal.ts'
import { Confirm } from '../../components/overlay.tsx'
import { PageFrame } from '../../components/page.tsx'
import { Panel } from '../../components/panel.tsx'
import { presentData, QueryResult } from '../../components/states.tsx'
import { useShortcut } from '../../shell/shortcuts.ts'
import { useSearchChange } from '../search-params.ts'
import { AboutMemory } from './about.tsx'
import { ScopeBadge, TypeBadge } from './badges.tsx'
import { EditMemory } from './edit.tsx'
import { History } from './history.tsx'
import { useMayChange } from './may-change.ts'
import { PromoteMemory, widerThan } from './promote.tsx'
import { Relationships } from './relationships.tsx'
import './memory.css'

const route = getRouteApi('/memory/$id')

export function MemoryPage() {
  const { id } = route.useParams()
  const held = useDialogIsOpen()
  const memory = useCall('getMemory', { params: { id } }, { until: ({ expires_at }) => expires_at, held })
  const shown = presentData(memory)
  const owner = usePrincipalName(shown ? [shown.agent_id] : [])
  return (
    <PageFrame
      title={shown?.title ?? 'Memory'}
      back={{ to: '/memory', label: 'memories' }}
      beside={
        shown ? (
          <>
            <TypeBadge type={shown.type} />
            <ScopeBadge scope={shown.scope} team_id={shown.team_id} />
          </>
        ) : null
      }
      actions={shown ? <Actions memory={shown} /> : undefined}
    >
      <QueryResult of={memory} lines={10}>
        {(data) => (
          <div className="columns">
            <div className="stack wide">
              <Panel title="Content" actions={<CopyButton text={data.content} label="Copy the content" />}>
                <p className="memory-content" dir="auto">
                  {data.content}
                </p>
              </Panel>
              <Relationships memory={data} />
            </div>
            <div className="stack wide">
              <Panel title="About">
                <AboutMemory memory={data} owner={owner(data.agent_id)} />
              </Panel>
              <History memory={data} />
            </div>
          </div>
        )}
      </QueryResult>
    </PageFrame>
  )
}

function Actions({ memory }: { memory: Memory }) {
  const { do: doing } = route.useSearch()
  const navigate = useNavigate()
  const queries = useQueryClient()
  const mayChange = useMayChange()(memory)
  const [isAsking, setAsking] = useState(false)
  const change = useSearchChange<{ do: string }>()
  const set = (what: string): void => change({ do: what })
  const forget = useAction((client) => client.memory.forget(memory.id), {
    refresh: ['listMemories', 'searchMemories', 'listRelationships'],
    done: `Forgotten: ${memory.title}`,
  })
  useShortcut('e', 'Edit the memory', () => set('edit'), mayChange)
  const canPromote = mayChange && widerThan(memory.scope).length > 0
  if (!mayChange) return null
  return (
    <>
      {canPromote ? (
        <button type="button" className="button" onClick={() => set('promote')}>
          Promote
        </button>
      ) : null}
      <button type="button" className="button" onClick={() => set('edit')}>
        Edit
      </button>
      <button type="button" className="button danger" onClick={() => setAsking(true)}>
        Forget
      </button>
      {doing === 'edit' ? <EditMemory memory={memory} onClose={() => set('')} /> : null}
      {doing === 'promote' && canPromote ? <PromoteMemory memory={memory} onClose={() => set('')} /> : null}
      {isAsking ? (
        <Confirm
          title="Forget this memory?"
          verb="Forget"
          danger
          busy={forget.isPending}
          onConfirm={() =>
            forget.mutate(undefined, {
              onSuccess: () => {
                void navigate({ to: '/memory' })
                void queries.resetQueries({ queryKey: ['getMemory', { params: { id: memory.id } }] })
              },
              onError: () => setAsking(false),
            })
          }
          onClose={() => setAsking(false)}
        >
          “{memory.title}” is found by nobody any more, and its relationships are no longer followed. It stays listed as
          deleted for its owner and for org-admins.
        </Confirm>
      ) : null}
    </>
  )
}
