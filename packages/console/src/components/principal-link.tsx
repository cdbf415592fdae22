import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { isOrgAdmin } from '../api/agent-names.ts'

interface PrincipalLinkProps {
  id: string
  className: string
  children: ReactNode
}

/** Leads to the page of an agent. The org-admin has none, and so no link. */
export function PrincipalLink({ id, className, children }: PrincipalLinkProps) {
  if (isOrgAdmin(id)) return <span className="cut">{children}</span>
  return (
    <Link to="/agents/$id" params={{ id }} className={className} dir="auto">
      {children}
    </Link>
  )
}
