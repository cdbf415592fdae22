// The filters of a page, as they are in the address: named texts, each of which may be missing. So is what it has open.
import { useNavigate, useRouter } from '@tanstack/react-router'
import { useRef } from 'react'
import { historyStep } from './history-step.ts'

declare module '@tanstack/react-router' {
  interface HistoryState {
    isOpening?: boolean
  }
}

/** Returns a function that keeps these names of a query string, as texts, and drops everything else. */
export function textIn<N extends string>(...names: readonly N[]) {
  return (search: Record<string, unknown>): { [name in N]?: string } =>
    Object.fromEntries(
      names
        .filter((name) => search[name] !== undefined && search[name] !== '')
        .map((name) => [name, String(search[name])]),
    ) as { [name in N]?: string }
}

/** Returns a function that changes some of the parameters of the page that is shown, and keeps the others. */
export function useSearchChange<S extends { [name in keyof S]?: string }>(): (change: S) => void {
  const navigate = useNavigate()
  const router = useRouter()
  /** The entry that is being left by going back, which takes a moment: a second Escape must not go back once more. */
  const left = useRef<unknown>(null)
  return (change) => {
    const { search, state } = router.latestLocation
    if (left.current === state) return
    const { kind, isOpening } = historyStep(search, { ...change }, state.isOpening === true)
    if (kind === 'back') {
      left.current = state
      // A button of the dialog closes it, also one that the Back of the browser does not close (components/modal.ts).
      router.history.back({ ignoreBlocker: true })
    } else
      void navigate({
        to: '.',
        search: (old: object) => ({ ...old, ...change }),
        state: { isOpening },
        replace: kind === 'replace',
      } as never)
  }
}
