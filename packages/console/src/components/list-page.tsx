// A page that is one list: a box that filters it by name, a button that makes a new one, and its table.
import { useMemo, type ReactNode } from 'react'
import type { Rows } from '../api/rows.ts'
import { useShortcut } from '../shell/shortcuts.ts'
import { PlusIcon } from './icons.tsx'
import { ListTable } from './list-table.tsx'
import { PageFrame } from './page.tsx'
import { SearchBox } from './search-box.tsx'
import { Empty } from './states.tsx'
import type { Column } from './column.ts'

interface ListPageProps<T extends { id: string }> {
  title: string
  /** One row: `agent`, of which several are `agents`. */
  noun: string
  list: Rows<T>
  columns: readonly Column<T>[]
  search: string
  onSearch(text: string): void
  /** What is searched besides the name. */
  keyOf(row: T): string
  /** Beside the box. */
  filters?: ReactNode
  /** The list is only what a filter beside the box let through. */
  isFiltered?: boolean
  /** A filter that this page applies, because the service does not. */
  fits?: ((row: T) => boolean) | undefined
  onOpen(row: T): void
  /** Left out for those who may not. */
  create?: { verb: string; says: string; run(): void } | undefined
  /** Shown when there are none at all. */
  empty: ReactNode
  children?: ReactNode
}

const nothing = (): void => {}

export function ListPage<T extends { id: string; name: string }>(props: ListPageProps<T>) {
  const { title, noun, list, search, keyOf, isFiltered = false, fits, create } = props
  const shown = useMemo(() => {
    const typed = search.toLowerCase()
    return list.rows.filter(
      (row) => (fits?.(row) ?? true) && (row.name.toLowerCase().includes(typed) || keyOf(row).includes(typed)),
    )
  }, [list.rows, search, fits, keyOf])
  useShortcut('c', create?.says ?? '', create?.run ?? nothing, create !== undefined)
  const isPart = search !== '' || fits !== undefined
  return (
    <PageFrame
      title={title}
      full
      actions={
        create && (
          <button type="button" className="button primary" onClick={create.run}>
            <PlusIcon /> {create.verb}
          </button>
        )
      }
    >
      <div className="filters">
        <SearchBox label={`Filter ${noun}s`} value={search} onChange={props.onSearch} />
        {props.filters}
      </div>
      <ListTable
        label={title}
        list={list}
        rows={isPart ? shown : undefined}
        columns={props.columns}
        onOpen={props.onOpen}
        foot={
          <span className="number">
            {isPart ? `${shown.length.toLocaleString()} of ` : ''}
            {list.total.toLocaleString()} {noun}s
            {list.isCutOff ? ', of which the newest 5,000 were looked through' : ''}
          </span>
        }
        empty={isPart || isFiltered ? <Empty title={`No ${noun} fits this filter`} /> : props.empty}
      />
      {props.children}
    </PageFrame>
  )
}
