// The frame of every page: title, actions and content.
import { useEffect, useRef, type ReactNode } from 'react'
import { BackLink } from './back-link.tsx'
import { useScrollPlace } from './scroll-place.ts'

interface PageFrameProps {
  title: string
  /** Shown beside the title: badges, an id. */
  beside?: ReactNode
  actions?: ReactNode
  /** The list that the page belongs to. */
  back?: { to: string; label: string }
  /** Takes the height of the window, for a list that scrolls on its own. */
  full?: boolean
  children: ReactNode
}

export function PageFrame({ title, beside, actions, back, full = false, children }: PageFrameProps) {
  useEffect(() => {
    document.title = `${title} · Sensorium`
  }, [title])
  // The row or link that led here is gone, and the keyboard would begin at the top of the document. What a dialog or the
  // navigation has focused keeps the focus.
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (document.activeElement === document.body) heading.current!.focus({ preventScroll: true })
  }, [])
  useScrollPlace(heading, 'main', 'page')
  return (
    <div className={full ? 'page full' : 'page'}>
      <div className="top">
        <div className="titles">
          {back === undefined ? null : <BackLink {...back} />}
          <h1 ref={heading} tabIndex={-1} dir="auto" title={title}>
            {title}
          </h1>
          {beside}
        </div>
        {actions === undefined ? null : <div className="actions">{actions}</div>}
      </div>
      {children}
    </div>
  )
}
