// The table of a list that is fetched page by page, including its loading and failure states.
import type { ReactNode } from 'react'
import type { Rows } from '../api/rows.ts'
import { QueryResult } from './states.tsx'
import type { Column } from './column.ts'
import { Table } from './table.tsx'

interface ListTableProps<T extends { id: string }> {
  label: string
  list: Rows<T>
  /** The rows to show, if not all of the list. */
  rows?: readonly T[] | undefined
  columns: readonly Column<T>[]
  onOpen(row: T): void
  isSelected?(row: T): boolean
  foot: ReactNode
  empty: ReactNode
}

const idOf = ({ id }: { id: string }): string => id

export function ListTable<T extends { id: string }>({ list, rows, ...table }: ListTableProps<T>) {
  const whole = { count: list.total, at: list.at, onLook: list.setViewport }
  return (
    <QueryResult of={{ ...list, data: list.first }} lines={8}>
      {() => <Table {...table} {...(rows === undefined ? whole : { rows })} fill of={list.key} keyOf={idOf} />}
    </QueryResult>
  )
}
