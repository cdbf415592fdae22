// Shows the members and feeds of a channel as tables.
import type { Feed, Member } from '@sensorium/client'
import { list } from '../../terminal/table.ts'
import { when } from '../../terminal/when.ts'

export const showMembers = (members: readonly Member[]): string =>
  list(
    ['member', 'kind', 'role', 'since'],
    members.map(({ participant_id, participant_type, role, joined_at }) => [
      participant_id,
      participant_type.replace('_', '-'),
      role,
      when(joined_at),
    ]),
    { none: 'It has no member.' },
  )

export const showFeeds = (feeds: readonly Feed[]): string =>
  list(
    ['feed', 'type', 'filter', 'since'],
    feeds.map(({ id, event_type_glob, filter_expression, created_at }) => [
      id,
      event_type_glob,
      filter_expression,
      when(created_at),
    ]),
    { none: 'It has no feed.' },
  )
