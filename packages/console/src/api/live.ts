import { createContext, use, useSyncExternalStore } from 'react'
import type { LiveStore, LiveView } from './live-store.ts'

export const LiveContext = createContext<LiveStore | null>(null)

export const useLiveStore = (): LiveStore => use(LiveContext)!

/** Returns the activity of the tenant, updated once a second. For org-admins. */
export function useLive(): LiveView {
  const store = useLiveStore()
  return useSyncExternalStore(store.subscribe, store.view)
}
