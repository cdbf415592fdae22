// The calls of the mailbox, made by hand; `worker` makes them in a loop.
import type { DeadLetter, DeadLetterChoice, DeliveryList, NackRequest, Operations } from './contract.ts'
import { eachOf } from './pages.ts'
import type { Call, CallOptions } from './request.ts'

type Query<O extends keyof Operations> = Operations[O]['query']

export function deliveryCalls(call: Call) {
  return {
    /** Leases the deliveries that are due. With `wait` (seconds, at most 20) the call waits that long for one. */
    poll: (query: Query<'pollDeliveries'> = {}, options?: CallOptions): Promise<DeliveryList> =>
      call('pollDeliveries', { query }, options),
    /** Acknowledges deliveries. Returns how many this call acknowledged. */
    ack: async (ids: readonly string[], options?: CallOptions): Promise<number> =>
      (await call('ackDeliveries', { body: { delivery_ids: [...ids] } }, options)).acknowledged,
    /** Gives deliveries back, to be retried or as dead letters. Returns how many were given back. */
    nack: async (
      ids: readonly string[],
      how: Omit<NackRequest, 'delivery_ids'> = {},
      options?: CallOptions,
    ): Promise<number> => (await call('nackDeliveries', { body: { delivery_ids: [...ids], ...how } }, options)).nacked,
    /** Extends leases, which then last `seconds` from now. Returns how many were extended. */
    extend: async (ids: readonly string[], seconds: number, options?: CallOptions): Promise<number> =>
      (await call('extendDeliveries', { body: { delivery_ids: [...ids], seconds } }, options)).extended,
    /** Returns one page of dead letters, and how many there are in all. */
    deadLetters: (query: Query<'listDeadLetters'> = {}, options?: CallOptions) =>
      call('listDeadLetters', { query }, options),
    /** Yields all dead letters, fetching page after page. */
    eachDeadLetter: (
      query: Omit<Query<'listDeadLetters'>, 'offset' | 'limit'> = {},
      options?: CallOptions,
    ): AsyncGenerator<DeadLetter, void, undefined> =>
      eachOf('dlq_items', (page) => call('listDeadLetters', { query: { ...query, ...page } }, options)),
    /** Replays dead letters, chosen by id or by a filter; `dry_run` only counts them. */
    replayMany: (choice: DeadLetterChoice, options?: CallOptions) =>
      call('replayDeadLetters', { body: choice }, options),
    /** Deletes dead letters, chosen in the same way. */
    discardMany: (choice: DeadLetterChoice, options?: CallOptions) =>
      call('discardDeadLetters', { body: choice }, options),
    /** Counts dead letters by reason, event type and agent. */
    deadLetterSummary: (options?: CallOptions) => call('getDeadLetterSummary', {}, options),
    /** Replays one dead letter: it is due again at once, starting with attempt 1. */
    replay: (id: string, options?: CallOptions) => call('replayDeadLetter', { params: { id } }, options),
  }
}

export type DeliveryCalls = ReturnType<typeof deliveryCalls>
