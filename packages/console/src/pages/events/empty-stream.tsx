// The empty state of a live list. Only a stream that is open, or about to be, lets events appear.
import type { ReactNode } from 'react'
import type { LiveView } from '../../api/live-store.ts'
import { Empty } from '../../components/states.tsx'

interface EmptyStreamProps {
  live: LiveView
  /** A command that makes an event appear. */
  command: string
  /** Says what appears here. */
  children: ReactNode
}

export function EmptyStream({ live: { state }, command, children }: EmptyStreamProps) {
  if (state === 'refused')
    return <Empty title="No events are shown">The service refused the stream. The reason is above.</Empty>
  if (state === 'away')
    return (
      <Empty title="Reconnecting">Events that are accepted until the stream is open again do not appear here.</Empty>
    )
  return (
    <Empty title={state === 'open' ? 'Nothing yet' : 'Connecting'} command={command}>
      {children}
    </Empty>
  )
}
