// Releases the leases of ended streams, in one transaction for all streams that end in the same turn.
import type { Activity } from '../activity/activity.ts'
import type { PolicyOf } from '../delivery/policy.ts'
import { release } from '../delivery/settle.ts'
import { byMailbox, ofMailbox, type Mailbox } from '../delivery/sql.ts'
import type { EndingLease } from '../delivery/claimed.ts'
import type { Wakeups } from '../delivery/wake.ts'
import { makeBatches } from '../kernel/batches.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/logger.ts'
import type { Store } from '../store/db.ts'

interface Ended {
  mailbox: Mailbox
  /** As they were claimed. Those that were extended since stay with their receiver. */
  leases: EndingLease[]
}

interface ReleaseLeases {
  /** Resolves when the leases are released, or have to lapse by themselves. */
  (ended: Ended): Promise<void>
  /** Resolves when nothing is being released any more. */
  finished(): Promise<unknown>
}

const MAX_GROUP = 50

interface ReleaseTools {
  store: Store
  wakeups: Wakeups
  activity: Activity
  clock: Clock
  log: Logger
  policyOf: PolicyOf
}

export function makeReleaseLeases({ store, wakeups, activity, clock, log, policyOf }: ReleaseTools): ReleaseLeases {
  async function run(ended: readonly Ended[]): Promise<void[]> {
    const group = ended.toSorted(byMailbox)
    try {
      await store.tx(async (tx) => {
        for (const { mailbox, leases } of group)
          await release(tx, activity, mailbox, leases, clock.now(), policyOf(mailbox.tenantId))
        tx.afterCommit(() => wakeups.wake(new Set(group.map(({ mailbox }) => mailbox.recipientId))))
      })
    } catch (error) {
      log.warn({ err: error, streams: group.length }, 'leases of ended streams were not released; they will lapse')
    }
    return ended.map(() => undefined)
  }

  const batches = makeBatches<Ended, void>({
    run,
    lanes: 1,
    maxItems: MAX_GROUP,
    ownerOf: ofMailbox,
  })
  const pending = new Set<Promise<void>>()
  function releaseLeases(ended: Ended): Promise<void> {
    const released: Promise<void> = batches.add(ended).finally(() => pending.delete(released))
    pending.add(released)
    return released
  }
  return Object.assign(releaseLeases, { finished: () => Promise.all(pending) })
}
