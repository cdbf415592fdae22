// A page that consists of one list: a box that filters it by name, a button that creates an item, and the table.
import { useMemo, type ReactNode } from 'react'
import type { Rows } from '../api/rows.ts'
import { useShortcut } from '../shell/shortcuts.ts'
import { counted } from './counted.ts'
import { PlusIcon } from './icons.tsx'
import { ListTable } from './list-table.tsx'
import { PageFrame } from './page.tsx'
import { SearchBox } from './search-box.tsx'
import { Empty } from './states.tsx'
import type { Column } from './column.ts'

interface ListPageProps<T extends { id: string }> {
  title: string
  /** The singular for one row: `agent`, whose plural is `agents`. */
  noun: string
  list: Rows<T>
  /** Says after the count that the list is longer than what is known of it. */
  cutOffNote?: string
  columns: readonly Column<T>[]
  search: string
  onSearch(text: string): void
  /** Returns the text that is searched in addition to the name. */
  keyOf(row: T): string
  /** Shown beside the search box. */
  filters?: ReactNode
  /** Whether a filter beside the search box narrows the list. */
  isFiltered?: boolean
  /** A filter that this page applies, because the service cannot. */
  fits?: ((row: T) => boolean) | undefined
  onOpen(row: T): void
  /** Left out if the session may not create one. */
  create?: { verb: string; label: string; run(): void } | undefined
  /** Shown when the list is empty without any filter. */
  empty: ReactNode
  children?: ReactNode
}

const nothing = (): void => {}

export function ListPage<T extends { id: string; name: string }>(props: ListPageProps<T>) {
  const { title, noun, list, search, keyOf, isFiltered = false, fits, create } = props
  const { cutOffNote = ', of which the newest 5,000 were looked through' } = props
  const shown = useMemo(() => {
    const typed = search.toLowerCase()
    return list.rows.filter(
      (row) => (fits?.(row) ?? true) && (row.name.toLowerCase().includes(typed) || keyOf(row).includes(typed)),
    )
  }, [list.rows, search, fits, keyOf])
  useShortcut('c', create?.label ?? '', create?.run ?? nothing, create !== undefined)
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
          <span className="number" role="status" aria-live={isPart || isFiltered ? 'polite' : 'off'}>
            {isPart ? `${shown.length.toLocaleString()} of ` : ''}
            {counted(list.total, noun)}
            {list.isCutOff ? cutOffNote : ''}
          </span>
        }
        empty={isPart || isFiltered ? <Empty title={`No ${noun} fits this filter`} /> : props.empty}
      />
      {props.children}
    </PageFrame>
  )
}
