import type { LiveView } from '../../api/live-store.ts'
import { Badge, type Tone } from '../../components/badge.tsx'

const STATES: Record<LiveView['state'], { tone: Tone | undefined; says: string }> = {
  connecting: { tone: undefined, says: 'connecting' },
  open: { tone: 'good', says: 'live' },
  away: { tone: 'warn', says: 'reconnecting' },
  refused: { tone: 'bad', says: 'refused' },
}

export function LiveBadge({ live, paused = false }: { live: LiveView; paused?: boolean }) {
  const { tone, says } = STATES[live.state]
  return <Badge tone={paused ? 'warn' : tone}>{paused ? 'paused' : says}</Badge>
}
