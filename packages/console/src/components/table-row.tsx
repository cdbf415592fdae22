// One row of a table. Its content is rendered once, however often the table is: scrolling moves rows and adds new ones.
import { memo, type KeyboardEvent, type ReactNode, type RefObject } from 'react'
import type { Column } from './column.ts'

export interface RowActions {
  open(index: number): void
  focus(index: number): void
  press(event: KeyboardEvent<HTMLElement>, index: number): void
}

interface CellsProps<T> {
  row: T
  columns: readonly Column<T>[]
  cramped: boolean
}

const Cells = memo(function Cells({ row, columns, cramped }: CellsProps<unknown>): ReactNode {
  return columns
    .filter(({ wideOnly }) => !(cramped && wideOnly))
    .map(({ name, right, cell }) => (
      <div key={name} role="cell" dir="auto" className={right ? 'cell right' : 'cell'}>
        {cell(row)}
      </div>
    ))
}) as <T>(props: CellsProps<T>) => ReactNode

interface RowProps<T> extends Omit<CellsProps<T>, 'row'> {
  index: number
  start: number
  /** Undefined while the row is being fetched. */
  row: T | undefined
  template: string
  leads: boolean
  /** Whether Tab leads here: to one row of the table, from which the arrow keys lead on. */
  isStop: boolean
  selected: boolean | undefined
  actions: RefObject<RowActions>
}

function Row({ index, start, row, columns, cramped, template, leads, isStop, selected, actions }: RowProps<unknown>) {
  return (
    <div
      className={leads ? 'line leads' : 'line'}
      role="row"
      aria-rowindex={index + 2}
      {...(selected === undefined ? {} : { 'aria-selected': selected })}
      {...(row === undefined ? { 'aria-busy': true } : {})}
      data-index={index}
      tabIndex={isStop ? 0 : -1}
      style={{ gridTemplateColumns: template, transform: `translateY(${start}px)` }}
      onFocus={() => actions.current.focus(index)}
      onClick={() => actions.current.open(index)}
      onKeyDown={(event) => actions.current.press(event, index)}
    >
      {row === undefined ? (
        <div role="cell" className="cell coming" />
      ) : (
        <Cells row={row} columns={columns} cramped={cramped} />
      )}
    </div>
  )
}

export const TableRow = memo(Row) as <T>(props: RowProps<T>) => ReactNode
