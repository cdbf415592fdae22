// A list that is in one piece, but may have thousands of items: the first hundred, and more on demand.
import { useState, type ReactNode } from 'react'

const SHOWN = 100

interface ByHundred<T> {
  shown: readonly T[]
  /** Stands below the list; null if that is all. */
  more: ReactNode
}

export function useByHundred<T>(all: readonly T[]): ByHundred<T> {
  const [most, setMost] = useState(SHOWN)
  const left = all.length - most
  if (left <= 0) return { shown: all, more: null }
  const more = (
    <div className="panel-note row">
      <button type="button" className="button slim" onClick={() => setMost(most + SHOWN)}>
        Show {Math.min(SHOWN, left)} more
      </button>
      <span className="faint small number">{left.toLocaleString()} not shown</span>
    </div>
  )
  return { shown: all.slice(0, most), more }
}
