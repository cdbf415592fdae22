// A far end of a worker whose streams carry what a test wants.
import { createClient, type Client, type Delivery } from '@sensorium/client'

export const delivery = (id: string): Delivery =>
  ({ id: `dlv_${id}`, event_id: id, attempt_count: 1, payload: { type: 'a.b', id } }) as unknown as Delivery

/** A stream with these deliveries. `taken` is called when the reader reads them. */
const streamOf = (deliveries: readonly Delivery[], stays: boolean, signal: AbortSignal, taken: () => void): Response =>
  new Response(
    new ReadableStream(
      {
        pull(control) {
          const text = deliveries.map((one) => `event: delivery\ndata: ${JSON.stringify(one)}\n\n`).join('')
          control.enqueue(new TextEncoder().encode(`: hello\n\n${text}`))
          if (!stays) control.close()
          taken()
          if (stays) signal.addEventListener('abort', () => control.error(signal.reason), { once: true })
          return stays ? new Promise(() => {}) : undefined
        },
      },
      new CountQueuingStrategy({ highWaterMark: 0 }),
    ),
    { headers: { 'content-type': 'text/event-stream' } },
  )

interface Streams {
  client: Client
  /** The calls so far, such as `ack dlv_one`. */
  told: string[]
  /** Resolves when such a call has been made. */
  hears(call: string): Promise<void>
  /** Resolves when the deliveries of each stream were read. */
  taken: Promise<void>[]
  /** Ids of deliveries whose leases are lost: they are not extended. */
  lost: Set<string>
  /** Calls that get no response before they are aborted. */
  unanswered: Set<string>
}

/**
 * A service whose streams each carry one list and end, except the last one. It records the calls
 * about deliveries, and refuses the extensions that the service refuses.
 */
export function streams(...lists: Delivery[][]): Streams {
  const told: string[] = []
  const lost = new Set<string>()
  const unanswered = new Set<string>()
  const heard = new Map<string, PromiseWithResolvers<void>>()
  const hearing = (call: string): PromiseWithResolvers<void> => {
    const found = heard.get(call) ?? Promise.withResolvers<void>()
    heard.set(call, found)
    return found
  }
  const takings = lists.map(() => Promise.withResolvers<void>())
  let opened = 0
  const given: typeof fetch = async (input, init) => {
    const request = new Request(input as string, init)
    const { pathname } = new URL(request.url)
    if (pathname.endsWith('/stream')) {
      const at = opened++
      return streamOf(lists[at] ?? [], at >= lists.length - 1, request.signal, () => takings[at]?.resolve())
    }
    const { delivery_ids, seconds = 1 } = (await request.json()) as { delivery_ids: string[]; seconds?: number }
    if (!Number.isInteger(seconds) || seconds < 1 || seconds > 3600)
      return Response.json({ error: 'validation_failed' }, { status: 400 })
    const call = `${pathname.split('/').at(-1)} ${delivery_ids}`
    told.push(call)
    hearing(call).resolve()
    if (unanswered.has(call))
      return new Promise((_, reject) =>
        request.signal.addEventListener('abort', () => reject(request.signal.reason as Error), { once: true }),
      )
    const held = delivery_ids.filter((id) => !lost.has(id)).length
    return Response.json({ acknowledged: held, nacked: held, extended: held })
  }
  const client = createClient({ url: 'http://service', token: 't', fetch: given })
  return {
    client,
    told,
    hears: (call) => hearing(call).promise,
    taken: takings.map(({ promise }) => promise),
    lost,
    unanswered,
  }
}
