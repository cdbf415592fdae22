// A part of a page whose code is loaded when the first such part is shown.
import { useQuery } from '@tanstack/react-query'
import type { ComponentType, ReactNode } from 'react'
import { LOCAL } from '../api/reachable.ts'
import { loadCode } from './load-code.ts'
import { Failed } from './states.tsx'

/**
 * Returns a component that loads another one and shows `instead` until it is there. If it cannot be loaded, that is
 * shown in its place, and the page stays. React's `lazy` would replace the whole page, for as long as the tab is open:
 * it never tries again.
 */
export function loadedPart<P extends object>(name: string, load: () => Promise<{ default: ComponentType<P> }>) {
  return function Part({ instead, ...props }: P & { instead: ReactNode }) {
    const {
      data: Loaded,
      error,
      refetch,
    } = useQuery({
      queryKey: ['part', name],
      queryFn: async () => (await loadCode(load)).default,
      meta: LOCAL,
      staleTime: Infinity,
      structuralSharing: false,
    })
    if (Loaded !== undefined) return <Loaded {...(props as unknown as P)} />
    if (error !== null) return <Failed error={error} retry={() => void refetch()} slim />
    return instead
  }
}
