// A moment: how long ago, with the exact time on hover. All of them tick together.
import { useSyncExternalStore } from 'react'
import { span } from './span.ts'

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

function relative(at: number): string {
  const past = Date.now() - at
  if (Math.abs(past) < 3_000) return 'just now'
  return past > 0 ? `${span(past)} ago` : `in ${span(-past)}`
}

/** Renders the component again every five seconds, for durations that grow. */
export const useTick = (): number => useSyncExternalStore(subscribe, () => ticks)

export function Time({ at, absent = '—' }: { at: string | null | undefined; absent?: string }) {
  useTick()
  if (at === null || at === undefined) return <span className="faint">{absent}</span>
  const moment = new Date(at)
  return (
    <time dateTime={at} title={`${moment.toLocaleString()} · ${moment.toISOString()}`}>
      {relative(moment.getTime())}
    </time>
  )
}
