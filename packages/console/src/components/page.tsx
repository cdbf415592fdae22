// The frame of every page: title, actions and content.
import { useEffect, useLayoutEffect, useRef, type ReactNode, type RefObject } from 'react'
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
  const heading = useRef<HTMLHeadingElement>(null)
  useScrollPlace(heading, 'main', 'page')
  return (
    <div className={full ? 'page full' : 'page'}>
      <div className="top">
        <div className="titles">
          {back === undefined ? null : <BackLink {...back} />}
          <Title text={title} of={heading} />
          {beside}
        </div>
        {actions === undefined ? null : <div className="actions">{actions}</div>}
      </div>
      {children}
    </div>
  )
}

/**
 * The row or link that led here is gone, and the keyboard would begin at the top of the document. What the navigation
 * has focused keeps the focus. A dialog of the page opens after this, and gives the focus back to the title.
 */
function Title({ text, of }: { text: string; of: RefObject<HTMLHeadingElement | null> }) {
  useLayoutEffect(() => {
    if (document.activeElement === document.body) of.current!.focus({ preventScroll: true })
  }, [of])
  return (
    <h1 ref={of} tabIndex={-1} dir="auto" title={text}>
      {text}
    </h1>
  )
}
