import { Navigate } from '@tanstack/react-router'
import { useSession } from '../../session/session.ts'
import { Overview } from './overview.tsx'

export function Home() {
  const { kind, agent } = useSession()
  if (kind === 'operator') return <Navigate to="/tenants" replace />
  if (agent !== null) return <Navigate to="/agents/$id" params={{ id: agent.id }} replace />
  return <Overview />
}
