// Streams that watch a tenant live, one for each tab of a console: events as they are accepted, and counts once a
// second.
//
// 1. All streams of a tenant share one read of the store a second; they differ in which events each shows.
// 2. A stream buffers nothing for a reader that is behind: events that it could not take are left out and counted, and
//    a reader that stays behind is disconnected.
// 3. A stream ends when its token, its key or this node does.
import type { EventSummary, LiveStats } from '@sensorium/contract'
import type { Identify } from '../auth/identify.ts'
import type { Principal } from '../auth/principal.ts'
import { summarize, type SummaryRow } from '../events/summaries.ts'
import { iso } from '../kernel/clock.ts'
import { tooManyAtOnce, unavailable } from '../kernel/failure.ts'
import type { Logger } from '../kernel/logger.ts'
import { nextTurn } from '../kernel/step-turns.ts'
import type { Store } from '../store/db.ts'
import { endWithToken } from '../streams/end-with-token.ts'
import { makeReader, reconnectHint, type OpenedStream, type Reader, type Sink } from '../streams/reader.ts'
import { makeTicker } from '../streams/ticker.ts'
import { choose, FILTER_STEPS, matchingType, type Choice, type Chosen } from './choose.ts'
import { watchTenant, type LiveLook, type TenantWatch, type WatchTools } from './watch-tenant.ts'

interface LiveTools extends WatchTools {
  identify: Identify
  log: Logger
}

export interface LiveStreams {
  /** Starts watching: the stream shows events accepted from then on. */
  watch(principal: Principal, choice: Choice): Promise<(sink: Sink, token: string) => OpenedStream>
  count(): number
  /** Ends all streams with a hint when to reconnect. */
  close(): void
}

const MAX_LIVE = 1_000
export const MAX_LIVE_OF_ONE = 16
const LOOK_EVERY_MS = 1_000
const VERIFY_EVERY_MS = 250
/** A reader that takes nothing for this long is disconnected. */
const STUCK_MS = 10_000

interface LiveStream {
  reader: Reader
  choice: Choice
  token: string
  verifying: boolean
  tenantId: string
  leftOut: number
}

interface Watched {
  watch: TenantWatch
  streams: Set<LiveStream>
}

const message = (name: string, data: EventSummary | LiveStats): string =>
  `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`

export function makeLiveStreams(tools: LiveTools): LiveStreams {
  const { store, clock, activity, identify, log } = tools
  const tenants = new Map<string, Watched>()
  const streams = new Set<LiveStream>()
  let closing = false

  const isNeeded = (): boolean => streams.size > 0
  const keepLooking = makeTicker(clock, log, LOOK_EVERY_MS, isNeeded, lookAtAll)
  const keepVerifying = makeTicker(clock, log, VERIFY_EVERY_MS, isNeeded, verifyAll)

  function end(stream: LiveStream, last?: string): void {
    if (!streams.delete(stream)) return
    const watched = tenants.get(stream.tenantId)
    if (watched?.streams.delete(stream) && watched.streams.size === 0) tenants.delete(stream.tenantId)
    stream.reader.end(last)
  }

  function verifyAll(_now: number, elapsed: number): void {
    for (const stream of streams) {
      if (stream.reader.stuckMs(elapsed) >= STUCK_MS) {
        end(stream)
        continue
      }
      endWithToken(stream, identify, () => end(stream, ''))
      stream.reader.keepOpen(elapsed)
    }
  }

  async function lookAtAll(): Promise<void> {
    await activity.flushEverywhere()
    for (const [tenantId, watched] of tenants) {
      try {
        await show(tenantId, watched)
      } catch (error) {
        log.warn({ err: error }, 'live: nothing could be read')
      }
    }
  }

  async function show(tenantId: string, { watch, streams: watching }: Watched): Promise<void> {
    const look = await watch.look()
    const ready = [...watching].filter(({ reader }) => !reader.isBehind())
    for (const [stream, text] of await updatesFor(store, tenantId, watch, look, ready))
      if (streams.has(stream)) stream.reader.write(text)
    for (const stream of watching)
      if (!ready.includes(stream)) stream.leftOut += matchingType(stream.choice, look.events).length
  }

  function open(stream: LiveStream, watch: TenantWatch): OpenedStream {
    if (closing || streams.size >= MAX_LIVE)
      throw unavailable(closing ? 'This node is shutting down' : 'This node has too many streams open')
    const watched = tenants.get(stream.tenantId) ?? { watch, streams: new Set() }
    if (watched.streams.size >= MAX_LIVE_OF_ONE) throw tooManyAtOnce('live streams open', MAX_LIVE_OF_ONE)
    tenants.set(stream.tenantId, watched)
    watched.streams.add(stream)
    streams.add(stream)
    keepLooking()
    keepVerifying()
    const { progressed, drained } = stream.reader
    return { progressed, drained, gone: () => end(stream) }
  }

  return {
    async watch({ tenantId }, choice) {
      if ((tenants.get(tenantId)?.streams.size ?? 0) >= MAX_LIVE_OF_ONE)
        throw tooManyAtOnce('live streams open', MAX_LIVE_OF_ONE)
      const watch = tenants.get(tenantId)?.watch ?? (await watchTenant(tools, tenantId))
      return (sink, token) =>
        open({ reader: makeReader(sink, clock), choice, token, verifying: false, tenantId, leftOut: 0 }, watch)
    },
    count: () => streams.size,
    close() {
      closing = true
      for (const stream of streams) end(stream, reconnectHint())
    },
  }
}

const secondsSince = (now: number, at: number | null): number | null =>
  at === null ? null : Math.max(0, Math.floor((now - at) / 1000))

const statsOf = ({ now, seconds, counts, backlog }: LiveLook, leftOut: number): LiveStats => ({
  at: iso(now),
  seconds,
  ...counts,
  backlog: backlog.waiting,
  oldest_waiting_seconds: secondsSince(now, backlog.oldestAt),
  org_admin_backlog: Math.min(backlog.waiting, backlog.ofAdmin.waiting),
  org_admin_oldest_waiting_seconds: secondsSince(now, backlog.ofAdmin.oldestAt),
  left_out: leftOut,
})

/** Returns the text to send on each of these streams: the events that it chooses, and the counts. */
async function updatesFor(
  store: Store,
  tenantId: string,
  watch: TenantWatch,
  look: LiveLook,
  streams: readonly LiveStream[],
): Promise<Map<LiveStream, string>> {
  const filtered = new Set<SummaryRow>()
  for (const { choice } of streams)
    if (choice.filter) for (const event of matchingType(choice, look.events)) filtered.add(event)
  const envelopeOf = await watch.envelopes(look.events.filter((event) => filtered.has(event)))
  const chosen = new Map<LiveStream, Chosen>()
  const steps = Math.ceil(FILTER_STEPS / Math.max(1, streams.filter(({ choice }) => choice.filter !== null).length))
  for (const stream of streams) chosen.set(stream, await choose(stream.choice, look.events, envelopeOf, steps))

  const shown = new Set([...chosen.values()].flatMap(({ events }) => events))
  const texts = new Map<string, string>()
  for (const summary of await summarize(store, tenantId, [...shown], nextTurn))
    texts.set(summary.id, message('event', summary))
  const news = new Map<LiveStream, string>()
  for (const [stream, { events, leftOut }] of chosen) {
    const missed = stream.leftOut + leftOut + look.unseen
    stream.leftOut = 0
    news.set(stream, events.map(({ id }) => texts.get(id)!).join('') + message('stats', statsOf(look, missed)))
  }
  return news
}
