// Operations of the API as hooks. Everything a page shows or does goes through one of these two, or through `useRows`.
import type { Client, Input, OperationId, Operations } from '@sensorium/client'
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useIsOver, useSession } from '../session/session.ts'
import { showToast, showFailure } from '../shell/toast-store.ts'

export interface CallOptions {
  /** Fetches again at this interval in milliseconds, while the tab is in view. */
  every?: number
  enabled?: boolean
  /** Shows the previous response until the new one arrives, for filters that are being typed. */
  keep?: boolean
}

/** Returns the response of an operation, fetched again when it is stale or an action has invalidated it. */
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
  { refresh = [], done, quiet = false }: ActionOptions<R> = {},
) {
  const { client } = useSession()
  const isOver = useIsOver()
  const queries = useQueryClient()
  return useMutation<R, Error, V>({
    mutationFn: (given) => run(client, given),
    onError: (error) => {
      if (!quiet && !isOver()) showFailure(error)
    },
    onSuccess: (result) => {
      if (done !== undefined && !isOver()) showToast(typeof done === 'function' ? done(result) : done)
      for (const operation of refresh) void queries.invalidateQueries({ queryKey: [operation] })
    },
  })
}
