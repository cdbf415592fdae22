// One agent: the state of its mailbox, its interests, its keys, its endpoint, and the events it handled last.
import type { Agent, Queue } from '@sensorium/client'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { ActionButton } from '../../components/action-button.tsx'
import { Copyable } from '../../components/copy.tsx'
import { KeyValues } from '../../components/key-values.tsx'
import { Confirm } from '../../components/overlay.tsx'
import { PageFrame } from '../../components/page.tsx'
import { Panel } from '../../components/panel.tsx'
import { Stat, Stats } from '../../components/stat.tsx'
import { QueryResult } from '../../components/states.tsx'
import { Moment, Time } from '../../components/time.tsx'
import { useAction, useCall } from '../../api/calls.ts'
import { useSession } from '../../session/session.ts'
import { AgentStatus, ModeBadge } from './badges.tsx'
import { Endpoint } from './endpoint.tsx'
import { Interests } from './interests.tsx'
import { Keys } from './keys.tsx'
import { QueueChart } from './queue-chart.tsx'
import { RecentEvents } from './recent-events.tsx'

const route = getRouteApi('/agents/$id')

export function AgentPage() {
  const { id } = route.useParams()
  const agent = useCall('getAgent', { params: { id } })
  return (
    <PageFrame
      title={agent.data?.name ?? 'Agent'}
      back={{ to: '/agents', label: 'agents' }}
      beside={
        agent.data ? (
          <>
            <AgentStatus agent={agent.data} />
            <ModeBadge mode={agent.data.delivery_mode} />
          </>
        ) : null
      }
      actions={agent.data ? <Actions agent={agent.data} /> : undefined}
    >
      <QueryResult of={agent} lines={10}>
        {(data) => <AgentBody agent={data} />}
      </QueryResult>
    </PageFrame>
  )
}

function Actions({ agent }: { agent: Agent }) {
  const { can, isSelf } = useSession()
  const [isAsking, setAsking] = useState(false)
  const refresh = ['getAgent', 'listAgents', 'getQueue'] as const
  const send = useAction((client) => client.agents.sendTestEvent(agent.id), {
    refresh: ['getQueue'],
    done: ({ event_id }) => `Sent ${event_id} to ${agent.name}`,
  })
  const activate = useAction((client) => client.agents.activate(agent.id), { refresh, done: `${agent.name} is active` })
  const deactivate = useAction((client) => client.agents.deactivate(agent.id), {
    refresh,
    done: `${agent.name} is inactive`,
  })
  const pause = useAction((client) => (agent.paused ? client.agents.resume(agent.id) : client.agents.pause(agent.id)), {
    refresh,
    done: ({ paused }) => `${agent.name} is ${paused ? 'paused: events wait for it' : 'handed events again'}`,
  })
  const isActive = agent.status === 'active'
  return (
    <>
      {isActive && (can('admin') || (isSelf(agent.id) && can('send'))) ? (
        <ActionButton busy={send.isPending} onClick={() => send.mutate()}>
          Send a test event
        </ActionButton>
      ) : null}
      {isActive && (can('admin') || isSelf(agent.id)) ? (
        <ActionButton busy={pause.isPending} onClick={() => pause.mutate()}>
          {agent.paused ? 'Resume' : 'Pause'}
        </ActionButton>
      ) : null}
      {!can('admin') ? null : isActive ? (
        <ActionButton kind="danger" onClick={() => setAsking(true)}>
          Deactivate
        </ActionButton>
      ) : (
        <ActionButton kind="primary" busy={activate.isPending} onClick={() => activate.mutate()}>
          Activate
        </ActionButton>
      )}
      {isAsking ? (
        <Confirm
          title={`Deactivate ${agent.name}?`}
          verb="Deactivate"
          danger
          busy={deactivate.isPending}
          onConfirm={() => deactivate.mutate(undefined, { onSettled: () => setAsking(false) })}
          onClose={() => setAsking(false)}
        >
          Its keys stop working within a second and it receives nothing new. What waits in its mailbox stays there.
        </Confirm>
      ) : null}
    </>
  )
}

function AgentBody({ agent }: { agent: Agent }) {
  const { can, isSelf } = useSession()
  const seesMailbox = can('admin') || (isSelf(agent.id) && can('receive'))
  return (
    <>
      {seesMailbox ? <Mailbox agent={agent} /> : null}
      <div className="columns">
        <div className="stack wide">
          {can('interests:read') ? <Interests agent={agent} /> : null}
          {seesMailbox ? <RecentEvents agent={agent} /> : null}
        </div>
        <div className="stack wide">
          <Panel title="About">
            <KeyValues
              of={{
                Id: <Copyable text={agent.id} label="Copy the id" />,
                Description: agent.description,
                'External id': agent.external_id ? <Copyable text={agent.external_id} /> : null,
                Client: agent.client_type,
                Team: agent.team_id ? <Copyable text={agent.team_id} /> : null,
                Registered: <Moment at={agent.created_at} />,
                Changed: <Moment at={agent.updated_at} />,
              }}
            />
          </Panel>
          {agent.delivery_mode === 'push' ? <Endpoint agent={agent} /> : null}
          {can('admin') ? <Keys agent={agent} /> : null}
        </div>
      </div>
    </>
  )
}

/** A wait of over a minute is worth a look; one of over ten minutes is a fault. */
function toneOfAge(at: string | null): 'warn' | 'bad' | undefined {
  const age = at === null ? 0 : Date.now() - Date.parse(at)
  return age > 600_000 ? 'bad' : age > 60_000 ? 'warn' : undefined
}

function Mailbox({ agent }: { agent: Agent }) {
  const queue = useCall('getQueue', { params: { id: agent.id } }, { every: 3_000 })
  return (
    <QueryResult of={queue} lines={2}>
      {(data: Queue) => (
        <>
          <Stats>
            <Stat label="Waiting" value={data.pending.toLocaleString()} note="to be handed out" />
            <Stat label="Leased" value={data.leased.toLocaleString()} note="being handled" />
            <Stat
              label="Dead letters"
              value={data.dead_lettered.toLocaleString()}
              tone={data.dead_lettered > 0 ? 'bad' : undefined}
              note="given up on"
            />
            <Stat
              label="Oldest waiting"
              value={<Time at={data.oldest_pending_at} absent="none" />}
              tone={toneOfAge(data.oldest_pending_at)}
            />
            <Stat label="Last poll" value={<Time at={data.last_poll_at} absent="never" />} />
          </Stats>
          <QueueChart queue={data} at={queue.dataUpdatedAt} />
        </>
      )}
    </QueryResult>
  )
}
