// A table of any length: only the rows in view are in the page. Arrow keys move between rows, Enter opens one.
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useLayoutEffect, useRef, useState, type KeyboardEvent, type ReactNode, type RefObject } from 'react'
import type { Column } from './column.ts'
import { useScrollPlace } from './scroll-place.ts'
import { TableRow, type RowActions } from './table-row.tsx'
import { useCramped } from './use-narrow.ts'

/** Rows that are all available, or a list of which some are fetched. */
type Source<T> =
  | { rows: readonly T[]; count?: never; at?: never; onLook?: never }
  | {
      rows?: never
      count: number
      at(index: number): T | undefined
      /** Called with the rows in view, unless the user only scrolls past them. */
      onLook(from: number, to: number): void
    }

type TableProps<T> = Source<T> & {
  label: string
  columns: readonly Column<T>[]
  keyOf(row: T): string
  /** Called when a row is chosen. */
  onOpen?(row: T): void
  isSelected?(row: T): boolean
  /** Takes the rest of the page and scrolls on its own. */
  fill?: boolean
  /** Identifies the list. Another list is shown from its beginning. */
  of?: string
  /** Shown below the rows: how many there are. */
  foot?: ReactNode
  empty?: ReactNode
}

const ROW = 36
/**
 * Rows that are dragged past, a whole view in one frame, are not fetched. Once the table rests for this long, the rows
 * in view are.
 */
const RESTS_MS = 60
const STEPS: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1, PageDown: 15, PageUp: -15 }

/** Returns the row that a key moves to, or null if it moves nowhere. A page ends with the first or the last row. */
function leadsTo(key: string, index: number, count: number): number | null {
  const step = STEPS[key]
  const to = key === 'Home' ? 0 : key === 'End' ? count - 1 : step === undefined ? -1 : index + step
  if (key === 'PageDown' || key === 'PageUp') return Math.max(0, Math.min(to, count - 1))
  return to < 0 || to >= count ? null : to
}

/** Tells which rows are in view, unless the user only scrolls past them. */
function useLook(from: number, to: number, onLook: ((from: number, to: number) => void) | undefined): void {
  const passed = useRef(from)
  useEffect(() => {
    if (onLook === undefined) return undefined
    const isDragged = Math.abs(from - passed.current) > to - from
    passed.current = from
    if (!isDragged) onLook(from, to)
    const timer = setTimeout(() => onLook(from, to), RESTS_MS)
    return () => clearTimeout(timer)
  }, [from, to, onLook])
}

/** Shows another list from its beginning. */
function useBeginning(scroller: RefObject<HTMLElement | null>, of: string | undefined): void {
  const previous = useRef(of)
  useLayoutEffect(() => {
    if (previous.current !== of) scroller.current?.scrollTo(0, 0)
    previous.current = of
  }, [scroller, of])
}

export function Table<T>(props: TableProps<T>) {
  const { label, columns, keyOf, onOpen, isSelected, fill = false, of, foot, empty, onLook } = props
  const count = props.rows === undefined ? props.count : props.rows.length
  const rowAt = (index: number): T | undefined => (props.rows === undefined ? props.at(index) : props.rows[index])
  const cramped = useCramped()
  const shown = columns.filter(({ wideOnly }) => !(cramped && wideOnly))
  const template = shown.map(({ width }) => width).join(' ')
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 12,
  })
  useScrollPlace(scroller, '.scroll', label)
  const items = virtual.getVirtualItems()
  const from = items[0]?.index ?? 0
  const to = items.at(-1)?.index ?? 0
  // One row is reached with Tab: the one that had the focus last, or the first in view if that one is scrolled away. If
  // all were, Tab would have to pass every row, and each would bring more of a long list into the page.
  const [focused, setFocused] = useState(0)
  const stop = focused >= from && focused <= to ? focused : Math.min(virtual.range?.startIndex ?? from, to)
  useLook(from, to, onLook)
  useBeginning(scroller, of)

  // A row is rendered again when it changes, not when the table is scrolled, so it looks up its actions here.
  const actions = useRef<RowActions>({ open() {}, focus() {}, press() {} })
  actions.current = {
    open(index) {
      const row = rowAt(index)
      if (row !== undefined) onOpen?.(row)
    },
    focus: setFocused,
    press(event: KeyboardEvent<HTMLElement>, index) {
      // Keys of the browser and of the palette, such as Ctrl K.
      if (event.metaKey || event.ctrlKey || event.altKey) return
      if (event.key === 'Enter' && event.target === event.currentTarget) {
        // Otherwise the same Enter would also press the button that has the focus in what it opens.
        event.preventDefault()
        actions.current.open(index)
      }
      const target = leadsTo(event.key, index, count)
      if (target === null) return
      event.preventDefault()
      virtual.scrollToIndex(target)
      requestAnimationFrame(() => scroller.current?.querySelector<HTMLElement>(`[data-index="${target}"]`)?.focus())
    },
  }

  return (
    <div className={fill ? 'table fill' : 'table'}>
      <div className="scroll" ref={scroller} {...(onOpen ? {} : { role: 'region', 'aria-label': label, tabIndex: 0 })}>
        <div role="table" aria-label={label} aria-rowcount={count + 1}>
          <div role="rowgroup" className="heads">
            <div className="line" role="row" style={{ gridTemplateColumns: template }}>
              {shown.map(({ name, right }) => (
                <div key={name} role="columnheader" className={right ? 'cell right' : 'cell'}>
                  {name}
                </div>
              ))}
            </div>
          </div>
          {count === 0 ? null : (
            <div className="rows" role="rowgroup" style={{ height: virtual.getTotalSize() }}>
              {items.map(({ index, start }) => {
                const row = rowAt(index)
                return (
                  <TableRow<T>
                    // A row that arrives takes its placeholder's position, and its focus.
                    key={props.rows === undefined ? index : keyOf(props.rows[index]!)}
                    index={index}
                    start={start}
                    row={row}
                    columns={columns}
                    cramped={cramped}
                    template={template}
                    leads={onOpen !== undefined}
                    isStop={onOpen !== undefined && index === stop}
                    selected={isSelected === undefined || row === undefined ? undefined : isSelected(row)}
                    actions={actions}
                  />
                )
              })}
            </div>
          )}
        </div>
        {count === 0 ? empty : null}
      </div>
      {foot === undefined ? null : <div className="more">{foot}</div>}
    </div>
  )
}
