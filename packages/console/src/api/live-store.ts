// The one live stream of a tab, shared by all components that show it. It runs while at least one does, and keeps a
// limited number of events and counts.
import { SensoriumError, type Client, type EventSummary, type LiveStats } from '@sensorium/client'
import { setReachable } from './reachable.ts'
import { addEvents, type LiveEvents } from './live-events.ts'
import { addStats } from './live-stats.ts'

/** A filter of events. The counts are always those of the whole tenant. */
interface LiveQuery {
  type?: string
  filter?: string
}

export interface LiveView extends LiveEvents {
  state: 'connecting' | 'open' | 'away' | 'refused'
  /** Why the stream was refused, for example a mistake in the filter. */
  error: Error | null
  /** One a second while the stream was open, oldest first. */
  stats: readonly LiveStats[]
  /** Whether the newest of them are of this visit. They stay while the service is away, and while a filter is set. */
  isCounted: boolean
  /** How many events were not shown since the filter was set. */
  leftOut: number
}

/** Counts come every second. After this long without any, as while the store is away, the last ones are not current. */
const QUIET_MS = 5_000
/** Moving from one page to the next does not end the stream. */
const LINGER_MS = 2_000

const EMPTY: LiveView = {
  state: 'connecting',
  error: null,
  stats: [],
  isCounted: false,
  events: [],
  arrived: 0,
  leftOut: 0,
}

export interface LiveStore {
  view(): LiveView
  subscribe(listener: () => void): () => void
  /** Shows only events that pass this filter from now on, and drops those already shown. */
  filter(query: LiveQuery): void
}

export function makeLiveStore(client: Client, failed: (error: unknown) => void): LiveStore {
  let view = EMPTY
  let query: LiveQuery = {}
  let stream: AbortController | null = null
  let lingering: ReturnType<typeof setTimeout> | undefined
  const listeners = new Set<() => void>()

  function set(change: Partial<LiveView>): void {
    view = { ...view, ...change }
    for (const listener of listeners) listener()
  }

  async function run(signal: AbortSignal): Promise<void> {
    // The events of a second arrive before its counts. Both are shown together, so a busy tenant costs one render a
    // second.
    let waiting: EventSummary[] = []
    const away = (error: unknown): void => {
      set({ state: 'away' })
      failed(error)
    }
    let quiet: ReturnType<typeof setTimeout> | undefined
    const grewQuiet = (): void => {
      if (view.state === 'open' && !signal.aborted) set({ state: 'away', isCounted: false })
    }
    try {
      for await (const message of client.live({ ...query }, { signal, onError: away })) {
        if (signal.aborted) return
        if (message.kind === 'event') {
          waiting.push(message.event)
          continue
        }
        const { stats } = message
        clearTimeout(quiet)
        quiet = setTimeout(grewQuiet, QUIET_MS)
        // Only when it opens: a stream that is open says nothing of requests that fail meanwhile.
        if (view.state !== 'open') setReachable(true)
        set({
          state: 'open',
          stats: addStats(view.stats, stats),
          isCounted: true,
          ...addEvents(view, waiting),
          leftOut: view.leftOut + stats.left_out,
        })
        waiting = []
      }
    } catch (error) {
      if (signal.aborted) return
      const isRefused = error instanceof SensoriumError
      set({
        state: isRefused ? 'refused' : 'away',
        error: error as Error,
        ...(isRefused ? { isCounted: false } : {}),
      })
      failed(error)
    } finally {
      clearTimeout(quiet)
    }
  }

  function start(): void {
    stream?.abort()
    stream = new AbortController()
    set({ state: 'connecting', error: null })
    void run(stream.signal)
  }

  function stop(): void {
    stream?.abort()
    stream = null
  }

  return {
    view: () => view,
    subscribe(listener) {
      clearTimeout(lingering)
      listeners.add(listener)
      if (stream === null) {
        set({ isCounted: false })
        start()
      }
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) lingering = setTimeout(stop, LINGER_MS)
      }
    },
    filter(next) {
      if (next.type === query.type && next.filter === query.filter) return
      query = next
      set({ events: [], arrived: 0, leftOut: 0 })
      if (stream !== null) start()
    },
  }
}
