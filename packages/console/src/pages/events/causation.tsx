// The causes and effects of an event as a graph from left to right: its causes one after the other, the event, and the
// events that name it or one of its effects as their cause.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Fragment } from 'react'
import { LOCAL } from '../../api/reachable.ts'
import { ArrowIcon } from '../../components/icons.tsx'
import { Panel } from '../../components/panel.tsx'
import { Failed } from '../../components/states.tsx'
import { useSession } from '../../session/session.ts'
import { causesOf, effectsOf, type Effect, type Linked } from './causes.ts'

function Box({ of }: { of: Linked }) {
  const { can } = useSession()
  // To others than admins the service does not say whether an event is gone or was published by somebody else.
  const isHidden = of.type === null && !can('admin')
  const inside = (
    <>
      <code className="cut" dir="auto">
        {of.type ?? (isHidden ? 'not visible with this key' : 'no longer kept')}
      </code>
      <span className="faint small cut" dir="auto">
        {of.id}
      </span>
    </>
  )
  if (isHidden) return <div className="cause">{inside}</div>
  return (
    <Link to="/events/$id" params={{ id: of.id }} className="cause">
      {inside}
    </Link>
  )
}

function Effects({ of }: { of: readonly Effect[] }) {
  if (of.length === 0) return null
  return (
    <>
      <ArrowIcon />
      <ul className="effects" aria-label="What it led to">
        {of.map((effect) => (
          <li key={effect.id}>
            <Box of={effect} />
            {effect.more > 0 ? <span className="faint small">and {effect.more.toLocaleString()} more</span> : null}
            <Effects of={effect.effects} />
          </li>
        ))}
      </ul>
    </>
  )
}

export function Causation({ id, type, cause }: { id: string; type: string; cause: string | null }) {
  const { client, kind } = useSession()
  const causes = useQuery({
    queryKey: ['causes', id],
    meta: LOCAL,
    queryFn: ({ signal }) => (cause === null ? [] : causesOf(client, cause, signal)),
    staleTime: 60_000,
  })
  // Only org-admins can search the events of a tenant.
  const effects = useQuery({
    queryKey: ['effects', id],
    queryFn: ({ signal }) => effectsOf(client, id, signal),
    enabled: kind === 'org_admin',
    refetchInterval: 15_000,
  })
  if (causes.error !== null) return <Failed error={causes.error} />
  const before = causes.data ?? []
  const after = effects.data
  if (before.length === 0 && (after === undefined || after.effects.length === 0)) return null
  return (
    <Panel title="What led to it, and what it led to" flush>
      <section className="causes" aria-label="Causes and effects" tabIndex={0}>
        {before.map((one) => (
          <Fragment key={one.id}>
            <Box of={one} />
            <ArrowIcon />
          </Fragment>
        ))}
        <div className="cause current" aria-current="true">
          <code className="cut" dir="auto">
            {type}
          </code>
          <span className="quiet small cut" dir="auto">
            {id}
          </span>
        </div>
        <Effects of={after?.effects ?? []} />
        {after !== undefined && after.more > 0 ? (
          <span className="faint small">and {after.more.toLocaleString()} more</span>
        ) : null}
      </section>
    </Panel>
  )
}
