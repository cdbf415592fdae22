import { ConnectionError, RetryAfter, SensoriumError, type Delivery } from '@sensorium/client'
import type { ClientRun } from '../command.ts'
import { countOf, hasService } from './support/follow.ts'
import { showDelivery } from './support/show-delivery.ts'

/** The most deliveries that a stream holds unacknowledged. */
const MOST_HELD = 100
/** Printed deliveries are acknowledged at once; at the end this leaves time for those still in progress. */
const GRACE_MS = 2_000
/** Without a delay, a delivery would return over the stream that is about to close, and use up another attempt. */
const GIVEN_BACK_FOR_S = 1

const isRetried = (error: unknown): error is Error =>
  error instanceof ConnectionError || error instanceof SensoriumError

export const run: ClientRun = async (call) => {
  const { options, flags, client, print, signal } = call
  const count = countOf(options)
  if (!(await hasService(call))) return { json: undefined, text: '' }
  const acks = flags.has('ack')
  let printed = 0
  const held = new Set<string>()
  const ended = Promise.withResolvers<void>()
  signal.addEventListener('abort', () => ended.resolve(), { once: true })

  async function show(delivery: Delivery): Promise<void> {
    printed += 1
    await print({ json: delivery, text: showDelivery(delivery, flags.has('full')) })
    if (printed >= count) ended.resolve()
  }
  const worker = client.worker({
    mode: 'sse',
    // One at a time with --ack, so that no delivery is acknowledged that was not printed.
    concurrency: acks ? 1 : MOST_HELD,
    async handle({ delivery }) {
      if (printed >= count || signal.aborted) throw new RetryAfter(GIVEN_BACK_FOR_S, 'the listener ended')
      // A delivery that could not be printed is given back, and the listener ends.
      await show(delivery).catch((error: unknown) => {
        ended.reject(error)
        throw new RetryAfter(GIVEN_BACK_FOR_S, 'the listener ended')
      })
      if (acks) return
      held.add(delivery.id)
      if (held.size === MOST_HELD)
        console.error(`${MOST_HELD} are held, which is the most. End to give them back, or listen with --ack.`)
      await ended.promise.catch(() => {})
      throw new RetryAfter(GIVEN_BACK_FOR_S, 'the listener ended')
    },
    onError(error) {
      // Held deliveries would keep a worker running that has lost its key. A gateway may say so of any key for a
      // moment.
      if (error instanceof SensoriumError && error.isOfService && [401, 403].includes(error.status)) ended.reject(error)
      else if (isRetried(error)) console.error(`${error.message}; trying again`)
      else if (error instanceof Error && !(error instanceof RetryAfter)) console.error(error.message)
    },
  })
  try {
    await Promise.race([ended.promise, worker.stopped])
  } finally {
    ended.resolve()
    await worker.stop(GRACE_MS)
  }
  await worker.stopped
  return { json: undefined, text: '' }
}
