// A table of any length: only the rows in view are in the page. Arrow keys move between rows, Enter opens one.
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef, type KeyboardEvent, type ReactNode } from 'react'
import { useNarrow } from './use-narrow.ts'

export interface Column<T> {
  name: string
  /** A CSS track: `2fr`, `120px`, `minmax(0, 1fr)`. */
  width: string
  right?: boolean
  /** Left out on a phone. */
  wideOnly?: boolean
  cell(row: T): ReactNode
}

interface TableProps<T> {
  label: string
  columns: readonly Column<T>[]
  rows: readonly T[]
  keyOf(row: T): string
  /** What choosing a row does. */
  onOpen?(row: T): void
  isSelected?(row: T): boolean
  /** Takes the rest of the page and scrolls by itself. */
  fill?: boolean
  hasMore?: boolean
  more?(): void
  /** Below the rows: how many there are. */
  foot?: ReactNode
  empty?: ReactNode
}

const ROW = 36
const AHEAD = 20

export function Table<T>(props: TableProps<T>) {
  const { label, columns, rows, keyOf, onOpen, isSelected, fill = false, hasMore = false, more, foot, empty } = props
  const narrow = useNarrow()
  const shown = columns.filter(({ wideOnly }) => !(narrow && wideOnly))
  const template = shown.map(({ width }) => width).join(' ')
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 12,
  })
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (hasMore && last >= rows.length - AHEAD) more?.()
  }, [hasMore, last, rows.length, more])

  function move(event: KeyboardEvent<HTMLElement>, index: number): void {
    const step = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1, PageDown: 15, PageUp: -15 }[event.key]
    const to =
      event.key === 'Home' ? 0 : event.key === 'End' ? rows.length - 1 : step === undefined ? null : index + step
    if (event.key === 'Enter' && event.target === event.currentTarget) onOpen?.(rows[index]!)
    if (to === null || to < 0 || to >= rows.length) return
    event.preventDefault()
    virtual.scrollToIndex(to)
    requestAnimationFrame(() => scroller.current?.querySelector<HTMLElement>(`[data-index="${to}"]`)?.focus())
  }

  return (
    <div className={fill ? 'table fill' : 'table'}>
      <div className="scroll" ref={scroller} {...(onOpen ? {} : { role: 'region', 'aria-label': label, tabIndex: 0 })}>
        <div role="table" aria-label={label} aria-rowcount={rows.length + 1}>
          <div role="rowgroup" className="heads">
            <div className="line" role="row" style={{ gridTemplateColumns: template }}>
              {shown.map(({ name, right }) => (
                <div key={name} role="columnheader" className={right ? 'cell right' : 'cell'}>
                  {name}
                </div>
              ))}
            </div>
          </div>
          {rows.length === 0 ? null : (
            <div className="rows" role="rowgroup" style={{ height: virtual.getTotalSize() }}>
              {items.map(({ index, start }) => {
                const row = rows[index]!
                return (
                  <div
                    key={keyOf(row)}
                    className={onOpen ? 'line leads' : 'line'}
                    role="row"
                    aria-rowindex={index + 2}
                    {...(isSelected ? { 'aria-selected': isSelected(row) } : {})}
                    data-index={index}
                    tabIndex={onOpen ? 0 : -1}
                    style={{ gridTemplateColumns: template, transform: `translateY(${start}px)` }}
                    onClick={() => onOpen?.(row)}
                    onKeyDown={(event) => move(event, index)}
                  >
                    {shown.map(({ name, right, cell }) => (
                      <div key={name} role="cell" className={right ? 'cell right' : 'cell'}>
                        {cell(row)}
                      </div>
                    ))}
                  </div>
                )
              })}
            </div>
          )}
        </div>
        {rows.length === 0 ? empty : null}
      </div>
      {foot === undefined ? null : <div className="more">{foot}</div>}
    </div>
  )
}
