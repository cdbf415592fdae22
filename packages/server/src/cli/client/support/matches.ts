// Describes in words why a delivery was made.
import type { Matched } from '@sensorium/client'

export const matchesOf = (matched: readonly Matched[]): string =>
  matched
    .map(({ kind, id, channel_id }) =>
      kind === 'test_event' ? 'a test event' : `${kind} ${id}${channel_id === undefined ? '' : ` of ${channel_id}`}`,
    )
    .join(', ')
