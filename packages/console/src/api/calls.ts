// Operations of the API as hooks. Whatever a page shows or does goes through one of these two, or through `useRows`.
import type { Client, Input, OperationId, Operations } from '@sensorium/client'
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useSession } from '../session/session.ts'
import { tell, tellFailure } from '../shell/toast-store.ts'

export interface CallOptions {
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
