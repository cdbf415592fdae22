// A list of any length: the pages of it that are looked at are fetched, and fetched again, and no others. So the scroll
// bar is that of the whole list from the start, and one of 100,000 rows costs what one of 200 does.
import type { Input, OperationId, Operations } from '@sensorium/client'
import { useQueries, useQueryClient, type UseQueryResult } from '@tanstack/react-query'
import { useCallback, useMemo, useRef, useState } from 'react'
import { useSession } from '../session/session.ts'
import type { CallOptions } from './calls.ts'

type Listing = { [O in OperationId]: Operations[O]['query'] extends { offset?: number } ? O : never }[OperationId]

const PAGE = 100
/** Rows before and after those in view that are fetched with them. */
const AHEAD = 40
/** What is searched here, because the service does not, is fetched whole: so many pages at a time, and no more than that. */
const GROWS_BY = 4
const MOST_PAGES = 50

interface RowOptions extends CallOptions {
  /** Fetches the list from its beginning, for a search that the page does itself. */
  whole?: boolean
}

export interface Rows<T, R = unknown> {
  /** Another one, from its beginning, when this changes. */
  key: string
  /** How long the whole list is. */
  total: number
  /** The rows that are there, in their order: of the pages that are looked at, or of the whole list. */
  rows: readonly T[]
  /** Undefined while it is on its way. */
  at(index: number): T | undefined
  /** The response of the first page, for what it says beside its items. */
  first: R | undefined
  isPending: boolean
  error: Error | null
  /** Of a list that is wanted whole: whether there is more than was fetched. */
  isCutOff: boolean
  /** Says which rows are looked at. */
  look(from: number, to: number): void
}

const pagesBetween = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)

/** The pages to have: the first, which says how long the list is, and those in view; or more and more from the first on. */
function wantedPages(view: readonly [number, number], whole: boolean, pageOf: (page: number) => unknown): number[] {
  const total = (pageOf(0) as { total: number } | undefined)?.total ?? 0
  const last = Math.max(0, Math.ceil(total / PAGE) - 1)
  if (!whole) return [...new Set([0, ...pagesBetween(Math.min(view[0], last), Math.min(view[1], last))])]
  let have = 0
  while (have < MOST_PAGES && pageOf(have) !== undefined) have++
  return pagesBetween(0, Math.min(last, MOST_PAGES - 1, have + GROWS_BY - 1))
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
  const [looked, setLooked] = useState<{ key: string; view: readonly [number, number] }>({ key, view: [0, 0] })
  /** Shown until another list is there: a filter that is typed does not make the page blink. */
  const kept = useRef<Rows<T, Response> | null>(null)
  const view = looked.key === key ? looked.view : ([0, 0] as const)
  const keyOf = (page: number) => [operation, 'rows', input, page]
  const pages = wantedPages(view, whole, (page) => queries.getQueryData(keyOf(page)))

  const { responses, error } = useQueries({
    queries: pages.map((page) => ({
      queryKey: keyOf(page),
      queryFn: ({ signal }: { signal: AbortSignal }): Promise<Response> => {
        const query = { ...(input as { query?: object }).query, offset: page * PAGE, limit: PAGE }
        return client.call(operation, { ...input, query } as unknown as Input<O>, { signal })
      },
      ...(every === undefined || (whole && page > 0) ? {} : { refetchInterval: every }),
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

  const look = useCallback(
    (from: number, to: number) => {
      const next = [Math.floor(Math.max(0, from - AHEAD) / PAGE), Math.floor((to + AHEAD) / PAGE)] as const
      setLooked((old) =>
        old.key === key && old.view[0] === next[0] && old.view[1] === next[1] ? old : { key, view: next },
      )
    },
    [key],
  )
  const pageList = pages.join()
  const list = useMemo((): Rows<T, Response> => {
    const byPage = new Map(
      pageList.split(',').map((page, index) => {
        const response = responses[index]
        return [Number(page), response === undefined ? [] : itemsOf(response)]
      }),
    )
    const inView = [...byPage].filter(([page]) => whole || (page >= view[0] && page <= view[1]))
    return {
      key,
      total,
      rows: inView.flatMap(([, items]) => items),
      at: (index) => byPage.get(Math.floor(index / PAGE))?.[index % PAGE],
      first,
      isPending: first === undefined && error === null,
      error,
      isCutOff: whole && total > MOST_PAGES * PAGE,
      look,
    }
  }, [key, total, first, responses, pageList, view[0], view[1], whole, error, look, itemsOf])
  if (list.isPending && kept.current !== null) return { ...kept.current, look }
  if (!list.isPending) kept.current = list
  return list
}
