import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { pages } from '../pages/index.ts'
import { useSession } from '../session/session.ts'

interface PageLinkProps {
  /** The address of a page. */
  to: string
  search?: Record<string, string>
  className?: string
  children: ReactNode
}

/** Leads to a page if this session has it, and is plain text otherwise. */
export function PageLink({ to, search, className, children }: PageLinkProps) {
  const session = useSession()
  const isThere = pages.some((page) => page.path === to && page.isFor(session))
  if (!isThere) return <span className={className}>{children}</span>
  return (
    <Link to={to as never} search={search as never} className={className}>
      {children}
    </Link>
  )
}
