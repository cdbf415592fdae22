// One number that matters. With `to` it links to the list behind it.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Tone } from './badge.tsx'

interface StatProps {
  label: string
  value: ReactNode
  note?: ReactNode
  tone?: Tone | undefined
  /** An address below /console. */
  to?: string
  search?: Record<string, string>
}

export function Stats({ children }: { children: ReactNode }) {
  return <div className="stats">{children}</div>
}

export function Stat({ label, value, note, tone, to, search }: StatProps) {
  const className = tone === undefined ? 'stat' : `stat ${tone}`
  const inside = (
    <>
      <span className="label">{label}</span>
      <span className="figure">{value}</span>
      {note === undefined ? null : <span className="note">{note}</span>}
    </>
  )
  if (to === undefined) return <div className={className}>{inside}</div>
  return (
    <Link className={className} to={to as never} search={search as never}>
      {inside}
    </Link>
  )
}
