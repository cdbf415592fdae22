// Whether the service responded to the last request. A banner shows when it did not, and asks until it does.

/**
 * For the `meta` of queries that may succeed without a request: they say nothing of whether the service can be reached.
 */
export const LOCAL = { local: true } as const

let reachable = true
const listeners = new Set<() => void>()

export function setReachable(now: boolean): void {
  if (reachable === now) return
  reachable = now
  for (const listener of listeners) listener()
}

export function watchReachable(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const isReachable = (): boolean => reachable
