// /live and /stats: for people who watch a tenant.
import { operations } from '@sensorium/contract'
import type { Activity } from '../activity/activity.ts'
import { readHistory } from '../activity/history.ts'
import { makeChoice } from '../live/choose.ts'
import type { LiveStreams } from '../live/live-streams.ts'
import { checkFilter } from '../routing/check-filter.ts'
import { own, read, type Binding } from './binding.ts'
import { ok } from './response.ts'

interface LiveOperationTools {
  live: LiveStreams
  activity: Activity
  now(): number
}

export const liveOperations = ({ live, activity, now }: LiveOperationTools): Binding[] => [
  own(operations.streamLive, async ({ principal, query }) => {
    checkFilter('filter', query.filter)
    return { status: 200, stream: await live.watch(principal, makeChoice(query.type, query.filter)) }
  }),

  read(operations.getStats, async ({ principal, query }, db) => {
    await activity.flush()
    return ok({ minutes: await readHistory(db, principal.tenantId, query.minutes ?? 60, now()) })
  }),
]
