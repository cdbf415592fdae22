// Open subscriptions: a bounded number for each agent, and none outlives the credential that opened it.
import type { Clock } from '../kernel/clock.ts'
import { makeCounts } from '../kernel/counts.ts'
import { Failure, tooManyAtOnce } from '../kernel/failure.ts'

/** For one agent, the same as for streams of deliveries. */
export const MAX_SUBSCRIPTIONS_OF_ONE = 8
/** For all agents on a node. */
export const MAX_SUBSCRIPTIONS = 20_000
/** A revocation is noticed within a second: this, and half a second for which a key's standing is cached. */
const LOOK_EVERY_MS = 500

interface Entry {
  readonly ended: AbortController
  verify(): Promise<unknown>
  isVerifying: boolean
}

interface OpenSubscription {
  /** Aborted when the caller may no longer listen. */
  readonly signal: AbortSignal
  close(): void
}

interface Subscriptions {
  /** `verify` rejects with a refusal when the credential is no longer valid. Throws if the agent has too many open. */
  open(recipientId: string, verify: () => Promise<unknown>): OpenSubscription
}

export function makeSubscriptions(clock: Clock): Subscriptions {
  const entries = new Set<Entry>()
  const counts = makeCounts()
  let isLooking = false

  async function look(entry: Entry): Promise<void> {
    entry.isVerifying = true
    try {
      await entry.verify()
    } catch (error) {
      // Any refusal ends the subscription, also a 429: nobody listens with a credential that was not accepted. While
      // the store is unavailable, the credential cannot be checked; but nothing arrives then either.
      if (error instanceof Failure && error.status < 500) entry.ended.abort()
    } finally {
      entry.isVerifying = false
    }
  }

  async function keepLooking(): Promise<void> {
    if (isLooking) return
    isLooking = true
    while (entries.size > 0) {
      await clock.sleep(LOOK_EVERY_MS)
      for (const entry of entries) if (!entry.isVerifying) void look(entry)
    }
    isLooking = false
  }

  return {
    open(recipientId, verify) {
      if (counts.of(recipientId) >= MAX_SUBSCRIPTIONS_OF_ONE)
        throw tooManyAtOnce('open subscriptions', MAX_SUBSCRIPTIONS_OF_ONE)
      counts.add(recipientId, 1)
      const entry: Entry = { ended: new AbortController(), verify, isVerifying: false }
      entries.add(entry)
      void keepLooking()
      return {
        signal: entry.ended.signal,
        close() {
          if (entries.delete(entry)) counts.add(recipientId, -1)
        },
      }
    },
  }
}
