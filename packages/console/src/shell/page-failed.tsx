import { Link, type ErrorComponentProps } from '@tanstack/react-router'
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

/** Shown in place of a page that crashed; the rest of the console keeps working. */
export function PageFailed({ error, reset }: ErrorComponentProps) {
  return (
    <PageFrame title="This page failed">
      <Failed error={error instanceof Error ? error : new Error(String(error))} retry={reset} />
    </PageFrame>
  )
}
