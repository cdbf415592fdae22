import { Link, useRouter } from '@tanstack/react-router'
import type { MouseEvent } from 'react'
import { BackIcon } from './icons.tsx'
import { stepsBackTo } from './visited.ts'

/**
 * The arrow from a page to the list that it belongs to. If the list was left for this page, it goes back in the
 * history, to the filter, the view and the place that it was left with.
 */
export function BackLink({ to, label }: { to: string; label: string }) {
  const router = useRouter()
  function go(event: MouseEvent): void {
    // These open another tab or window, which has no history.
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    const steps = stepsBackTo(router.basepath + to, router.history.location.state.__TSR_index)
    if (steps === null) return
    event.preventDefault()
    router.history.go(-steps)
  }
  return (
    <Link to={to as never} className="button bare icon back" aria-label={`Back to ${label}`} onClick={go}>
      <BackIcon />
    </Link>
  )
}
