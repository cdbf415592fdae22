// Operations of the API as hooks. Whatever a page shows or does goes through one of these three.
import type { Client, Input, OperationId, Operations } from '@sensorium/client'
import { keepPreviousData, useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useSession } from '../session/session.ts'
import { tell, tellFailure } from '../shell/toast-store.ts'

interface CallOptions {
  /** Asks again after that many milliseconds, while the tab is looked at. */
  every?: number
  enabled?: boolean
  /** Shows what was there before until the new response arrives: for filters that are typed. */
  keep?: boolean
}

/** The response of an operation, fetched again when it is old or was made so by an action. */
export function useCall<O extends OperationId>(operation: O, input: Input<O>, options: CallOptions = {}) {
  const { client } = useSession()
  return useQuery<Operations[O]['response'], Error>({
    queryKey: [operation, input],
    queryFn: ({ signal }) => client.call(operation, input, { signal }),
    ...(options.every === undefined ? {} : { refetchInterval: options.every }),
    ...(options.enabled === undefined ? {} : { enabled: options.enabled }),
    ...(options.keep ? { placeholderData: keepPreviousData as never } : {}),
  })
}

type Listing = { [O in OperationId]: Operations[O]['query'] extends { offset?: number } ? O : never }[OperationId]

const PAGE = 100

export interface Rows<T, R = unknown> {
  rows: readonly T[]
  /** The response of the last page, for what it says beside its items. */
  last: R | undefined
  total: number
  isPending: boolean
  error: Error | null
  hasMore: boolean
  more(): void
}

/** A list that is fetched page by page as it is scrolled. */
export function useRows<O extends Listing, T>(
  operation: O,
  input: Input<O>,
  itemsOf: (response: Operations[O]['response']) => readonly T[],
  options: CallOptions = {},
): Rows<T, Operations[O]['response']> {
  const { client } = useSession()
  const query = useInfiniteQuery({
    queryKey: [operation, 'rows', input],
    queryFn: ({ pageParam, signal }) => {
      const given = input as { query?: object }
      const page = { ...given, query: { ...given.query, offset: pageParam, limit: PAGE } }
      return client.call(operation, page as unknown as Input<O>, { signal })
    },
    initialPageParam: 0,
    getNextPageParam: (last, all) => {
      const have = all.reduce((sum, page) => sum + itemsOf(page).length, 0)
      return itemsOf(last).length === 0 || have >= (last as { total: number }).total ? undefined : have
    },
    placeholderData: keepPreviousData,
    ...(options.every === undefined ? {} : { refetchInterval: options.every }),
    ...(options.enabled === undefined ? {} : { enabled: options.enabled }),
  })
  const { data, isPending, error, hasNextPage, isFetchingNextPage, fetchNextPage } = query
  const rows = useMemo(() => data?.pages.flatMap((page) => [...itemsOf(page)]) ?? [], [data, itemsOf])
  return {
    rows,
    last: data?.pages.at(-1),
    total: (data?.pages.at(-1) as { total: number } | undefined)?.total ?? 0,
    isPending,
    error,
    hasMore: hasNextPage,
    more: () => void (isFetchingNextPage || fetchNextPage()),
  }
}

interface ActionOptions<R> {
  /** Operations whose responses are old once it is done. */
  refresh?: readonly OperationId[]
  /** Said when it is done. */
  done?: string | ((result: R) => string)
  /** A form shows what is wrong beside its fields; left out, a toast says it. */
  quiet?: boolean
}

/** Something a person does: it changes the service, and what it changed is fetched again. */
export function useAction<V = void, R = unknown>(
  run: (client: Client, given: V) => Promise<R>,
  { refresh = [], done, quiet = false }: ActionOptions<R> = {},
) {
  const { client } = useSession()
  const queries = useQueryClient()
  return useMutation<R, Error, V>({
    mutationFn: (given) => run(client, given),
    onError: (error) => {
      if (!quiet) tellFailure(error)
    },
    onSuccess: async (result) => {
      if (done !== undefined) tell(typeof done === 'function' ? done(result) : done)
      await Promise.all(refresh.map((operation) => queries.invalidateQueries({ queryKey: [operation] })))
    },
  })
}
