import { Link } from '@tanstack/react-router'
import { useCall } from '../../api/calls.ts'
import { Badge } from '../../components/badge.tsx'

const TROUBLE = ['failed', 'reconnecting']

/**
 * Shows whether connectors of any tenant have failed or are reconnecting, with a link to the first of them, its state
 * and its last error. Renders nothing otherwise.
 */
export function ConnectorsInTrouble() {
  const { data } = useCall('listConnectors', { query: { limit: 200 } }, { every: 5_000 })
  const failing = data?.connectors.filter(({ state }) => TROUBLE.includes(state)) ?? []
  const [first] = failing
  if (first === undefined) return null
  return (
    <Link to="/ingestion" search={{ open: first.id }} className="plain" title={first.last_error ?? first.state}>
      <Badge tone="bad">
        {failing.length === 1
          ? `The connector ${first.source} of ${first.tenant} is ${first.state}`
          : `${failing.length} connectors are in trouble`}
      </Badge>
    </Link>
  )
}
