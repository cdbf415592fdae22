// Whether the service responded to the last request. A banner shows when it did not; each list keeps trying.
import { useSyncExternalStore } from 'react'

let reachable = true
const listeners = new Set<() => void>()

export function setReachable(now: boolean): void {
  if (reachable === now) return
  reachable = now
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const useReachable = (): boolean => useSyncExternalStore(subscribe, () => reachable)
