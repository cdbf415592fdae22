// The cache of responses, by operation and input. The API client retries on its own, so nothing is retried here.
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import type { FailureHandler } from './failure-handler.ts'
import { setReachable } from './reachable.ts'

export function makeQueryClient(failed: FailureHandler): QueryClient {
  return new QueryClient({
    queryCache: new QueryCache({
      onError: failed,
      onSuccess: (_data, { meta }) => {
        if (meta?.['local'] !== true) setReachable(true)
      },
    }),
    mutationCache: new MutationCache({ onError: failed, onSuccess: () => setReachable(true) }),
    // Always: by default a call waits while the browser believes that it has no network. That would show old data as
    // current, and carry out a click minutes later.
    defaultOptions: {
      queries: {
        networkMode: 'always',
        refetchOnReconnect: true,
        retry: false,
        staleTime: 2_000,
        gcTime: 120_000,
        refetchOnWindowFocus: true,
      },
      mutations: { networkMode: 'always', retry: false },
    },
  })
}
