import { Navigate } from '@tanstack/react-router'
import { PageFrame } from '../../components/page.tsx'
import { Empty } from '../../components/states.tsx'
import { useSession } from '../../session/session.ts'
import { pages } from '../index.ts'
import { Overview } from './overview.tsx'

export function Home() {
  const session = useSession()
  if (session.kind === 'org_admin') return <Overview />
  if (session.agent !== null) return <Navigate to="/agents/$id" params={{ id: session.agent.id }} replace />
  const first = pages.find((page) => page.isFor(session))
  if (first !== undefined) return <Navigate to={first.path as never} replace />
  return (
    <PageFrame title="Operator">
      <Empty title="Signed in as the operator" command="npx sensorium tenant list">
        Tenants, their settings and their usage are on the command line.
      </Empty>
    </PageFrame>
  )
}
