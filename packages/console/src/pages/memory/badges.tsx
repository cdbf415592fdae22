import type { Memory } from '@sensorium/client'
import { Badge, type Tone } from '../../components/badge.tsx'

const WHO = {
  agent: 'Its owner alone sees it',
  team: 'Agents of its team see it',
  institutional: 'The whole tenant sees it',
} as const satisfies Record<Memory['scope'], string>

export function ScopeBadge({ scope, team_id }: Pick<Memory, 'scope' | 'team_id'>) {
  const tone: Tone | undefined = scope === 'agent' ? undefined : scope === 'team' ? 'cool' : 'good'
  return (
    <span title={WHO[scope]}>
      <Badge tone={tone}>{scope === 'team' && team_id !== null ? `team ${team_id}` : scope}</Badge>
    </span>
  )
}

export const TypeBadge = ({ type }: Pick<Memory, 'type'>) => <Badge plain>{type}</Badge>
