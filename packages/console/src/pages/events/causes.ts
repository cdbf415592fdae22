// The causes of an event, as its `causationid` names them, and its effects, found among the retained events.
import { SensoriumError, type Client } from '@sensorium/client'

export interface Linked {
  id: string
  /** Null for an event that is gone, or that this key may not see. */
  type: string | null
}

export interface Effect extends Linked {
  effects: Effect[]
  /** How many of its effects are not shown. */
  more: number
}

/** The service accepts causal chains of up to 32 events. */
const LONGEST = 32
/** The effects of each event cost a search, so only a few are searched, which is enough to show what happened. */
const MOST_SEARCHES = 12
const SHOWN_OF_EACH = 8

/** Returns the causes of an event, oldest first. */
export async function causesOf(client: Client, first: string, signal: AbortSignal): Promise<Linked[]> {
  const causes: Linked[] = []
  for (let next: string | null = first; next !== null && causes.length < LONGEST; ) {
    const id: string = next
    if (causes.some((cause) => cause.id === id)) break
    const event = await client.events.get(id, { signal }).then(
      (trace) => trace.event,
      (error: unknown) => {
        if (error instanceof SensoriumError && error.status === 404) return null
        throw error
      },
    )
    causes.unshift({ id, type: event?.type ?? null })
    next = typeof event?.['causationid'] === 'string' ? event['causationid'] : null
  }
  return causes
}

/** Returns the effects of an event and their effects: nearest first, and oldest first among the equally near. */
export async function effectsOf(client: Client, id: string, signal: AbortSignal): Promise<Effect> {
  const root: Effect = { id, type: null, effects: [], more: 0 }
  const seen = new Set([id])
  const queue = [root]
  for (let searches = 0; searches < MOST_SEARCHES && queue.length > 0; searches++) {
    const cause = queue.shift()!
    const query = { causationid: cause.id, limit: SHOWN_OF_EACH }
    const { events, total } = await client.call('listEvents', { query }, { signal })
    cause.effects = events
      .reverse()
      .filter((event) => !seen.has(event.id) && seen.add(event.id))
      .map((event) => ({ id: event.id, type: event.type, effects: [], more: 0 }))
    cause.more = total - events.length
    queue.push(...cause.effects)
  }
  return root
}
