// What led to an event: its cause, the cause of that, and so on, as far as they are kept. The service takes chains of 32.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Fragment } from 'react'
import { SensoriumError, type Client } from '@sensorium/client'
import { ArrowIcon } from '../../components/icons.tsx'
import { Panel } from '../../components/panel.tsx'
import { Reply } from '../../components/states.tsx'
import { useSession } from '../../session/session.ts'

interface Cause {
  id: string
  /** Null for one that is gone, or that this key may not see. */
  type: string | null
}

const LONGEST = 32

/** The causes of an event, oldest first. */
async function causesOf(client: Client, first: string, signal: AbortSignal): Promise<Cause[]> {
  const causes: Cause[] = []
  for (let next: string | null = first; next !== null && causes.length < LONGEST; ) {
    const id: string = next
    if (causes.some((cause) => cause.id === id)) break
    const event = await client.events.get(id, { signal }).then(
      (trace) => trace.event,
      (error: unknown) => {
        if (error instanceof SensoriumError && error.status === 404) return null
        throw error
      },
    )
    causes.unshift({ id, type: event?.type ?? null })
    next = typeof event?.['causationid'] === 'string' ? event['causationid'] : null
  }
  return causes
}

export function CauseChain({ id, type, cause }: { id: string; type: string; cause: string }) {
  const { client } = useSession()
  const causes = useQuery({
    queryKey: ['causes', id],
    queryFn: ({ signal }) => causesOf(client, cause, signal),
    staleTime: 60_000,
  })
  return (
    <Panel title="What led to it" flush>
      <Reply of={causes} lines={1}>
        {(chain) => (
          <div className="causes">
            {chain.map((one) => (
              <Fragment key={one.id}>
                <Link to="/events/$id" params={{ id: one.id }} className="cause">
                  <code className="cut">{one.type ?? 'no longer kept'}</code>
                  <span className="faint small cut">{one.id}</span>
                </Link>
                <ArrowIcon />
              </Fragment>
            ))}
            <div className="cause current" aria-current="true">
              <code className="cut">{type}</code>
              <span className="quiet small cut">{id}</span>
            </div>
          </div>
        )}
      </Reply>
    </Panel>
  )
}
