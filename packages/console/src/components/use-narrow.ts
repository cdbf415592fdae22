import { useSyncExternalStore } from 'react'

function watching(media: string): () => boolean {
  const query = matchMedia(media)
  function subscribe(listener: () => void): () => void {
    query.addEventListener('change', listener)
    return () => query.removeEventListener('change', listener)
  }
  return () => useSyncExternalStore(subscribe, () => query.matches)
}

/** Whether the window is about as narrow as a phone. */
export const useNarrow = watching('(max-width: 760px)')

/** Whether a table lacks the room for all of its columns: on a tablet the list of pages is beside it. */
export const useCramped = watching('(max-width: 1000px)')
