import type { Channel, Member } from '@sensorium/client'
import { Badge } from '../../components/badge.tsx'

const TONES = { open: 'good', private: 'cool', direct: undefined } as const

export function ChannelTypeBadge({ type }: { type: Channel['type'] }) {
  return (
    <Badge plain tone={TONES[type]}>
      {type}
    </Badge>
  )
}

export function RoleBadge({ role }: { role: Member['role'] }) {
  return (
    <Badge plain tone={role === 'member' ? undefined : 'cool'}>
      {role}
    </Badge>
  )
}
