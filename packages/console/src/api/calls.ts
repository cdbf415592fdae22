// Operations of the API as hooks. Everything a page shows or does goes through one of these two, or through `useRows`.
import type { Client, Input, OperationId, Operations } from '@sensorium/client'
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import { useIsOver, useSession } from '../session/session.ts'
import { showToast, showFailure } from '../shell/toast-store.ts'
import { useRefresh } from './refresh.ts'

export interface CallOptions<R = never> {
  /** Fetches again at this interval in milliseconds, while the tab is in view. */
  every?: number
  /** How many items a response of any length has: a long one is fetched less often. */
  itemsIn?: (response: R) => number
  /** When a response ends to be true, as a time: it is fetched again then. Null if it does not. */
  until?: (response: R) => string | null
  enabled?: boolean
  /** Nothing is fetched again meanwhile, and what is shown stays: a form that belongs to it is being filled in. */
  held?: boolean
  /** Shows the previous response until the new one arrives, for filters that are being typed. */
  keep?: boolean
}

/** 4,000 receipts of an event are 1.5 MB, and are fetched again after 40 s. */
const MS_FOR_EACH_ITEM = 10

/** How long to wait where this clock is ahead of the service's, which alone says what is over. */
const CLOCKS_DIFFER_MS = 5_000
/** A browser fires a timer of more than 24 days at once. */
const LONGEST_MS = 86_400_000

/** Returns the milliseconds until that moment, or until it is asked for again. */
function msUntil(at: string): number {
  const ms = Date.parse(at) - Date.now()
  return ms > 0 ? Math.min(ms + 1, LONGEST_MS) : CLOCKS_DIFFER_MS
}

/** Returns the response of an operation, fetched again when it is stale or an action has invalidated it. */
export function useCall<O extends OperationId>(
  operation: O,
  input: Input<O>,
  options: CallOptions<Operations[O]['response']> = {},
) {
  const { client } = useSession()
  const { every, itemsIn, until, enabled } = options
  return useQuery<Operations[O]['response'], Error>({
    queryKey: [operation, input],
    queryFn: ({ signal }) => client.call(operation, input, { signal }),
    ...(every === undefined
      ? {}
      : {
          refetchInterval: ({ state: { data } }) =>
            Math.max(every, data && itemsIn ? itemsIn(data) * MS_FOR_EACH_ITEM : 0),
        }),
    ...(until === undefined
      ? {}
      : {
          refetchInterval: ({ state: { data, status } }) => {
            const at = data && status === 'success' ? until(data) : null
            return at !== null && msUntil(at)
          },
        }),
    ...(enabled === undefined ? {} : { enabled }),
    ...(options.held ? { enabled: ({ state: { data } }) => enabled !== false && data === undefined } : {}),
    ...(options.keep ? { placeholderData: keepPreviousData as never } : {}),
  })
}

interface ActionOptions<R> {
  /** Operations whose responses the action makes stale. */
  refresh?: readonly OperationId[]
  /** The message shown when the action is done. */
  done?: string | ((result: R) => string)
  /** For a form, which shows errors beside its fields. Otherwise a toast shows them. */
  quiet?: boolean
}

/**
 * An action of the user: it changes something in the service, and the affected responses are fetched again. Its result
 * does not wait for them: it may be a secret that is shown this once, and they may take long.
 */
export function useAction<V = void, R = unknown>(
  run: (client: Client, given: V) => Promise<R>,
  { refresh: stale = [], done, quiet = false }: ActionOptions<R> = {},
) {
  const { client } = useSession()
  const isOver = useIsOver()
  const refresh = useRefresh()
  return useMutation<R, Error, V>({
    mutationFn: (given) => run(client, given),
    onError: (error) => {
      if (!quiet && !isOver()) showFailure(error)
    },
    onSuccess: (result) => {
      if (done !== undefined && !isOver()) showToast(typeof done === 'function' ? done(result) : done)
      void refresh(stale)
    },
  })
}
