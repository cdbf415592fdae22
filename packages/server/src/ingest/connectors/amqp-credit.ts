// How many messages a broker may send: there are never more than `credit` unsettled ones.
import type { Receiver } from 'rhea'
import { backoffMs } from '../../kernel/backoff.ts'
import type { Clock } from '../../kernel/clock.ts'

const STORE_BACKOFF = { firstMs: 500, maxMs: 15_000 }

export interface Credit {
  /** Asks for as many messages as there is room for, once the link is open. */
  grant(): void
  /** A message came. Throws if it was not asked for. */
  arrived(): void
  /** A message is settled, which makes room for the next. */
  settled(): void
  /** The store took a message. */
  storeWorks(): void
  /** The store could not take a message. Asks for nothing during a backoff, and then for one message at first. */
  storeUnavailable(): Promise<void>
  unsettled(): number
  /** Resolves when nothing is unsettled. */
  idle(): Promise<void>
}

interface CreditTools {
  credit: number
  clock: Clock
  /** Aborted when the connector stops or the connection ends. */
  ended: AbortSignal
  /** Null while the link is not open. */
  receiver(): Receiver | null
  /** How often in a row the store was unavailable. The count outlives the connection. */
  store: { failures: number }
}

export function makeCredit({ credit, clock, ended, receiver, store }: CreditTools): Credit {
  let granted = 0
  let unsettled = 0
  let paused = false
  let scheduled = false
  let whenIdle = (): void => {}

  // Messages are settled in bursts, when a group is on disk, so one flow frame serves a whole burst. No flow is sent
  // while granted messages may still be on their way: RabbitMQ 3 takes the number as the credit from then on, forgets
  // the messages in flight, and sends more than was granted.
  function grant(): void {
    if (scheduled || ended.aborted || granted > 0) return
    scheduled = true
    setImmediate(() => {
      scheduled = false
      const link = receiver()
      if (ended.aborted || paused || !link || granted > 0) return
      const wanted = store.failures > 0 ? 1 : credit
      const room = wanted - unsettled
      if (room < Math.ceil(wanted / 4)) return
      granted = room
      link.add_credit(room)
    })
  }

  return {
    grant,
    arrived() {
      if (granted === 0) throw new Error('the broker sent more messages than it was asked for')
      granted--
      unsettled++
    },
    settled() {
      unsettled--
      if (unsettled === 0) whenIdle()
      grant()
    },
    storeWorks() {
      store.failures = 0
    },
    async storeUnavailable() {
      if (paused) return
      paused = true
      await clock.sleep(backoffMs(STORE_BACKOFF, ++store.failures), ended)
      paused = false
      grant()
    },
    unsettled: () => unsettled,
    idle: () => (unsettled === 0 ? Promise.resolve() : new Promise((resolve) => (whenIdle = resolve))),
  }
}
