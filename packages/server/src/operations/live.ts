// /live
import { operations } from '@sensorium/contract'
import { makeChoice } from '../live/choose.ts'
import type { LiveStreams } from '../live/live-streams.ts'
import { checkFilter } from '../routing/check-filter.ts'
import { own, type Binding } from './binding.ts'

export const liveOperations = (live: LiveStreams): Binding[] => [
  own(operations.streamLive, async ({ principal, query }) => {
    checkFilter('filter', query.filter)
    return { status: 200, stream: await live.watch(principal, makeChoice(query.type, query.filter)) }
  }),
]
