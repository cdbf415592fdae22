// Events as they are accepted, at most 200 a second, after the newest of before. Pausing freezes the list; events that
// arrive then are counted.
import { useEffect, useRef, useState } from 'react'
import { useLive, useLiveStore } from '../../api/live.ts'
import type { LiveEvents } from '../../api/live-events.ts'
import { PauseIcon, PlayIcon } from '../../components/icons.tsx'
import { Table } from '../../components/table.tsx'
import { useShortcut } from '../../shell/shortcuts.ts'
import { EVENT_COLUMNS } from './columns.tsx'
import { countOf } from './count-of.ts'
import { EmptyStream } from './empty-stream.tsx'
import './events.css'
import { LiveBadge } from './live-badge.tsx'
import { PUBLISH } from './publish-command.ts'
import { useWithEarlier } from './use-earlier.ts'

interface StreamProps {
  type: string
  filter: string
  onFilter(change: { type?: string; filter?: string }): void
  onOpen(id: string): void
}

/** A filter that is typed takes effect once nothing has been typed for this long; that of the address does at once. */
const SETTLED_MS = 400

export function EventStream({ type, filter, onFilter, onOpen }: StreamProps) {
  const store = useLiveStore()
  const live = useLive()
  const [held, setHeld] = useState<LiveEvents | null>(null)
  const toggle = (): void => setHeld(held === null ? live : null)
  useShortcut('p', held === null ? 'Pause the stream' : 'Resume the stream', toggle)
  const isTyped = useRef(false)
  useEffect(() => {
    const apply = (): void => {
      store.filter({ ...(type === '' ? {} : { type }), ...(filter === '' ? {} : { filter }) })
      setHeld(null)
    }
    if (!isTyped.current) {
      isTyped.current = true
      apply()
      return undefined
    }
    const timer = setTimeout(apply, SETTLED_MS)
    return () => clearTimeout(timer)
  }, [store, type, filter])
  // Other pages show all events.
  useEffect(() => () => store.filter({}), [store])
  const shown = held ?? live
  const missed = live.arrived - shown.arrived
  // A search has no expressions.
  const until = held?.events[0]?.received_at
  const events = useWithEarlier({ ...live, ...shown }, { type, isWanted: filter === '', until })
  const earlier = events.length - shown.events.length
  return (
    <>
      <div className="filters">
        <button type="button" className="button" aria-pressed={held !== null} onClick={toggle}>
          {held === null ? <PauseIcon /> : <PlayIcon />}
          {held === null ? 'Pause' : missed > 0 ? `Resume (${missed.toLocaleString()} new)` : 'Resume'}
        </button>
        <input
          className="input mono stream-type"
          aria-label="Type pattern"
          placeholder="com.plant.*"
          spellCheck={false}
          value={type}
          onChange={(event) => onFilter({ type: event.target.value })}
        />
        <input
          className="input mono stream-filter"
          aria-label="Filter expression"
          placeholder="data.celsius > 80"
          spellCheck={false}
          value={filter}
          onChange={(event) => onFilter({ filter: event.target.value })}
        />
        <LiveBadge live={live} paused={held !== null} />
      </div>
      {live.error === null ? null : (
        <p className="failed" role="alert">
          {live.error.message}
        </p>
      )}
      <Table
        label="Events"
        fill
        columns={EVENT_COLUMNS}
        rows={events}
        keyOf={({ id }) => id}
        onOpen={({ id }) => onOpen(id)}
        foot={
          <span className="number">
            {countOf(shown)} arrived while this tab was watching
            {earlier > 0 ? `, ${earlier} before` : ''}
            {live.leftOut > 0 ? ` · ${live.leftOut.toLocaleString()} more were too many to show` : ''}
          </span>
        }
        empty={
          <EmptyStream live={live} command={PUBLISH}>
            Events appear here within a second of being accepted; earlier ones are under Search. Publish one here, or
            from a shell with your key in the first line.
          </EmptyStream>
        }
      />
    </>
  )
}
