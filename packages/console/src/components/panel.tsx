// A panel with a title, optional actions and content.
import { useId, type ReactNode } from 'react'

interface PanelProps {
  title: string
  /** A text if the number is not exact. */
  count?: number | string | undefined
  actions?: ReactNode
  /** Lets the content reach the edges, for tables and lists. */
  flush?: boolean
  children: ReactNode
}

export function Panel({ title, count, actions, flush = false, children }: PanelProps) {
  const id = useId()
  return (
    <section className="panel" aria-labelledby={id}>
      <header>
        <h2 id={id} dir="auto" tabIndex={-1}>
          {title} {count === undefined ? null : <span className="count number">{count.toLocaleString()}</span>}
        </h2>
        {actions}
      </header>
      <div className={flush ? 'body flush' : 'body'}>{children}</div>
    </section>
  )
}
