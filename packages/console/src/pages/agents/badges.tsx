import type { Agent } from '@sensorium/client'
import { Badge } from '../../components/badge.tsx'

export function AgentStatus({ agent }: { agent: Agent }) {
  const { status, paused } = agent
  if (status === 'inactive') return <Badge>inactive</Badge>
  return paused ? <Badge tone="warn">paused</Badge> : <Badge tone="good">active</Badge>
}

export function ModeBadge({ mode }: { mode: Agent['delivery_mode'] }) {
  return <Badge plain>{mode === 'sse' ? 'stream' : mode}</Badge>
}
