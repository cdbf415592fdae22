import { Link, useRouter, type ErrorComponentProps } from '@tanstack/react-router'
import { useEffect } from 'react'
import { isReachable, watchReachable } from '../api/reachable.ts'
import { PageFrame } from '../components/page.tsx'
import { Empty, Failed } from '../components/states.tsx'

export function NotFound() {
  return (
    <PageFrame title="Nothing here">
      <Empty
        title="There is no such page"
        action={
          <Link to="/" className="button">
            Go to the start
          </Link>
        }
      >
        The address may be of another release, or your key does not show it.
      </Empty>
    </PageFrame>
  )
}

/**
 * Shown in place of a page that crashed or could not be loaded; the rest of the console keeps working. Only the router
 * loads a page again, so a new attempt begins there: by the user, or once a service that was away answers again.
 */
export function PageFailed({ error, reset }: ErrorComponentProps) {
  const router = useRouter()
  const retry = (): void => void router.invalidate().finally(reset)
  useEffect(() =>
    watchReachable(() => {
      if (isReachable()) retry()
    }),
  )
  return (
    <PageFrame title="This page failed">
      <Failed error={error instanceof Error ? error : new Error(String(error))} retry={retry} />
    </PageFrame>
  )
}
