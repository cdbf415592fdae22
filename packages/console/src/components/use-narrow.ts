import { useSyncExternalStore } from 'react'

const query = matchMedia('(max-width: 760px)')

function subscribe(listener: () => void): () => void {
  query.addEventListener('change', listener)
  return () => query.removeEventListener('change', listener)
}

/** Whether the window is about as narrow as a phone. */
export const useNarrow = (): boolean => useSyncExternalStore(subscribe, () => query.matches)
