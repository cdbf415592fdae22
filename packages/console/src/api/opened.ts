// The item that a drawer shows, by the id in the address. It may be on a page of its list that is not in view, or move
// there while it is open, and the service has no request for one item of these lists.
import type { Input, OperationId, Operations } from '@sensorium/client'
import { useRef } from 'react'
import { useRows, type Listing, type Rows } from './rows.ts'

/** How many pages of the list are looked through: rows may be long, and whoever opens an old one can filter first. */
const LOOKED_THROUGH = 10

export interface Opened<T> {
  /** The item as it was last seen, until the list has been looked through without it. */
  item: T | undefined
  /** Whether the list was looked through, as far as it is, and does not have the item. */
  isAbsent: boolean
  /** Why it could not be looked through. */
  error: Error | null
}

/** The id is empty or undefined while nothing is open. */
export function useOpened<O extends Listing & OperationId, T extends { id: string }>(
  id: string | undefined,
  list: Rows<T>,
  operation: O,
  input: Input<O>,
  itemsOf: (response: Operations[O]['response']) => readonly T[],
): Opened<T> {
  const last = useRef<T | undefined>(undefined)
  if (last.current?.id !== id) last.current = undefined
  const inView = list.rows.find((row) => row.id === id)
  const isElsewhere = Boolean(id) && inView === undefined && !list.isPending && !list.isPrevious
  const all = useRows(operation, input, itemsOf, { whole: LOOKED_THROUGH, enabled: isElsewhere })
  const found = inView ?? (isElsewhere ? all.rows.find((row) => row.id === id) : undefined)
  if (found !== undefined) last.current = found
  const isAbsent = isElsewhere && found === undefined && all.isWhole && !all.isPrevious
  return { item: isAbsent ? undefined : last.current, isAbsent, error: isElsewhere ? all.error : null }
}
