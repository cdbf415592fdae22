// After a change, what shows it is fetched again.
import type { OperationId } from '@sensorium/client'
import { useQueryClient } from '@tanstack/react-query'

type Refresh = (operations: readonly OperationId[]) => Promise<void>

/** Returns what fetches the responses of operations again, where a page shows them. */
export function useRefresh(): Refresh {
  const queries = useQueryClient()
  return async (operations) => {
    await Promise.all(
      operations.map(async (operation) => {
        const queryKey = [operation]
        // A first response that is still on its way may be older than the change, and would count as fetched again.
        await queries.cancelQueries({ queryKey })
        await queries.invalidateQueries({ queryKey })
      }),
    )
  }
}
