import type { ReactNode } from 'react'

/** A column of a table. */
export interface Column<T> {
  name: string
  /** A CSS track: `2fr`, `120px`, `minmax(0, 1fr)`. */
  width: string
  right?: boolean
  /** Hidden on a phone and on a tablet. */
  wideOnly?: boolean
  cell(row: T): ReactNode
}
