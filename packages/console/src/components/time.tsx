// A moment: how long ago, with the exact time on hover or beside it. All of them tick together.
import { useSyncExternalStore } from 'react'
import { isFar, relative } from './span.ts'

const TICK_MS = 5_000
let ticks = 0
let timer = 0
const listeners = new Set<() => void>()

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  if (listeners.size === 1)
    timer = window.setInterval(() => {
      ticks++
      for (const tell of listeners) tell()
    }, TICK_MS)
  return () => {
    listeners.delete(listener)
    if (listeners.size === 0) clearInterval(timer)
  }
}

/** Renders the component again every five seconds, for durations that grow. */
export const useTick = (): number => useSyncExternalStore(subscribe, () => ticks)

interface TimeProps {
  at: string | null | undefined
  absent?: string | undefined
}

export function Time({ at, absent = '—' }: TimeProps) {
  useTick()
  if (at === null || at === undefined) return <span className="faint">{absent}</span>
  const moment = new Date(at)
  return (
    <time dateTime={at} title={`${moment.toLocaleString()} · ${moment.toISOString()}`}>
      {relative(moment.getTime(), Date.now())}
    </time>
  )
}

/** A moment among the facts about one thing: the exact time is shown, because touch and keyboard cannot hover. */
export function Moment({ at, absent }: TimeProps) {
  const moment = at ? new Date(at) : null
  // The text of one that is far away is its date already.
  if (moment && isFar(moment.getTime(), Date.now()))
    return <time dateTime={moment.toISOString()}>{moment.toLocaleString()}</time>
  return (
    <span>
      <Time at={at} absent={absent} /> {moment ? <span className="faint">{moment.toLocaleString()}</span> : null}
    </span>
  )
}
