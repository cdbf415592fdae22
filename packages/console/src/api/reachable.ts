// Whether the service answered the last time it was asked. A banner says when it did not; each list goes on asking.
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
