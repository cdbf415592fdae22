// A list of any length. Only the pages in view are fetched and refreshed, so the scroll bar is that of the whole list
// from the start, and a list of 100,000 rows costs the same as one of 200.
import type { Input, OperationId, Operations } from '@sensorium/client'
import { useQueries, useQueryClient, type UseQueryResult } from '@tanstack/react-query'
import { useCallback, useMemo, useRef, useState } from 'react'
import { useSession } from '../session/session.ts'
import type { CallOptions } from './calls.ts'

/** The operations that return a list in pages. */
export type Listing = {
  [O in OperationId]: Operations[O]['query'] extends { offset?: number } ? O : never
}[OperationId]

const PAGE = 100
/** How many rows before and after those in view are fetched with them. */
const AHEAD = 40
/**
 * A list that the page searches itself, because the service cannot, is fetched whole: GROWS_BY pages at a time, and at
 * most MOST_PAGES.
 */
const GROWS_BY = 4
const MOST_PAGES = 50

interface RowOptions extends CallOptions {
  /**
   * Fetches the whole list from its beginning, for a search that the page does itself. A number is how many pages of it
   * at most.
   */
  whole?: boolean | number
}

export interface Rows<T, R = unknown> {
  /** Identifies the list. When it changes, another list is shown, from its beginning. */
  key: string
  /** The length of the whole list. */
  total: number
  /** The rows that have been fetched, in order: of the pages in view, or of the whole list. */
  rows: readonly T[]
  /** Returns a row, or undefined while it is being fetched. */
  at(index: number): T | undefined
  /** The response of the first page, or undefined if it never arrived, in which case `total` says nothing. */
  first: R | undefined
  isPending: boolean
  /** Whether this is the list of the previous input, shown until the one that is asked for has arrived. */
  isPrevious: boolean
  error: Error | null
  /** Fetches the pages in use again. */
  refetch(): void
  /** For a list that is fetched whole: whether it is longer than the part that is fetched. */
  isCutOff: boolean
  /** Whether every page that is to be fetched has arrived. */
  isWhole: boolean
  /** Sets which rows are in view. */
  setViewport(from: number, to: number): void
}

const pagesBetween = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)

/** Returns the pages to fetch: the first, which has the length, and those in view; or ever more pages, up to `most`. */
function wantedPages(view: readonly [number, number], most: number, pageOf: (page: number) => unknown): number[] {
  const total = (pageOf(0) as { total: number } | undefined)?.total ?? 0
  const last = Math.max(0, Math.ceil(total / PAGE) - 1)
  if (most === 0) return [...new Set([0, ...pagesBetween(Math.min(view[0], last), Math.min(view[1], last))])]
  let have = 0
  while (have < most && pageOf(have) !== undefined) have++
  return pagesBetween(0, Math.min(last, most - 1, have + GROWS_BY - 1))
}

interface Fetched<R> {
  responses: readonly (R | undefined)[]
  error: Error | null
}

export function useRows<O extends Listing, T>(
  operation: O,
  input: Input<O>,
  itemsOf: (response: Operations[O]['response']) => readonly T[],
  { whole = false, every, enabled }: RowOptions = {},
): Rows<T, Operations[O]['response']> {
  type Response = Operations[O]['response']
  const { client } = useSession()
  const queries = useQueryClient()
  const key = JSON.stringify(input)
  const most = whole === true ? MOST_PAGES : whole === false ? 0 : whole
  const [viewport, storeViewport] = useState<{ key: string; view: readonly [number, number] }>({ key, view: [0, 0] })
  /** The last list, shown until the next one has arrived, so that the page does not flicker while a filter is typed. */
  const kept = useRef<Rows<T, Response> | null>(null)
  const view = viewport.key === key ? viewport.view : ([0, 0] as const)
  const keyOf = (page: number) => [operation, 'rows', input, page]
  const pages = wantedPages(view, most, (page) => queries.getQueryData(keyOf(page)))

  const { responses, error } = useQueries({
    queries: pages.map((page) => ({
      queryKey: keyOf(page),
      queryFn: ({ signal }: { signal: AbortSignal }): Promise<Response> => {
        const query = { ...(input as { query?: object }).query, offset: page * PAGE, limit: PAGE }
        return client.call(operation, { ...input, query } as unknown as Input<O>, { signal })
      },
      ...(every === undefined || (most > 0 && page > 0) ? {} : { refetchInterval: every }),
      ...(enabled === undefined ? {} : { enabled }),
    })),
    combine: useCallback(
      (results: UseQueryResult<Response, Error>[]): Fetched<Response> => ({
        responses: results.map(({ data }) => data),
        error: results.find(({ error }) => error !== null)?.error ?? null,
      }),
      [],
    ),
  })
  const first = responses[0]
  const total = (first as { total: number } | undefined)?.total ?? 0

  const setViewport = useCallback(
    (from: number, to: number) => {
      const next = [Math.floor(Math.max(0, from - AHEAD) / PAGE), Math.floor((to + AHEAD) / PAGE)] as const
      storeViewport((old) =>
        old.key === key && old.view[0] === next[0] && old.view[1] === next[1] ? old : { key, view: next },
      )
    },
    [key],
  )
  const refetch = useCallback(
    () => void queries.refetchQueries({ queryKey: [operation, 'rows', JSON.parse(key)], type: 'active' }),
    [queries, operation, key],
  )
  const pageList = pages.join()
  const list = useMemo((): Rows<T, Response> => {
    const byPage = new Map(
      pageList.split(',').map((page, index) => {
        const response = responses[index]
        return [Number(page), response === undefined ? [] : itemsOf(response)]
      }),
    )
    const inView = [...byPage].filter(([page]) => most > 0 || (page >= view[0] && page <= view[1]))
    return {
      key,
      total,
      rows: inView.flatMap(([, items]) => items),
      at: (index) => byPage.get(Math.floor(index / PAGE))?.[index % PAGE],
      first,
      isPending: first === undefined && error === null,
      isPrevious: false,
      error,
      refetch,
      isCutOff: most > 0 && total > most * PAGE,
      isWhole: byPage.size >= Math.min(most, Math.ceil(total / PAGE)) && responses.every((one) => one !== undefined),
      setViewport,
    }
  }, [key, total, first, responses, pageList, view[0], view[1], most, error, refetch, setViewport, itemsOf])
  if (list.isPending && kept.current !== null) return { ...kept.current, isPrevious: true, refetch, setViewport }
  if (!list.isPending) kept.current = list
  return list
}
