// Acknowledgements that share a transaction. Without this, on a store with several concurrent writers, the three
// receivers of one event need three transactions and three flushes of the log: a third of all the work of PostgreSQL at
// 500 events a second. On a store with one writer, acknowledgements would begin groups of their own, and publishes
// would wait for those. There is one statement for each mailbox; they go out together.
//
// 1. An acknowledgement is on disk when it resolves, and counts the deliveries that were open in its own mailbox.
// 2. A failure of one acknowledgement does not fail the others of its group: each is then done alone.
import { eachAlone, failedAlone, makeBatches } from '../kernel/batches.ts'
import { StoreUnavailable, type Store } from '../store/db.ts'
import { acknowledge, acknowledgeAll, type Acknowledgement, type SettleTools } from './settle.ts'
import { ofMailbox, type Mailbox } from './sql.ts'

type Acknowledge = (mailbox: Mailbox, ids: readonly string[]) => Promise<number>

const MOST_IDS = 1_000
/** While a group is under way, another begins when this many acknowledgements wait, or one has waited this long. */
const WHILE_BUSY = { minWaiting: 16, maxWaitMs: 4 }

export function makeAcknowledge(store: Store, tools: SettleTools, now: () => number): Acknowledge {
  const alone: Acknowledge = (mailbox, ids) => store.tx((tx) => acknowledge(tx, tools, mailbox, ids, now()))
  async function together(group: readonly Acknowledgement[]): Promise<(number | Promise<number>)[]> {
    try {
      const tenantIds = group.map(({ mailbox }) => mailbox.tenantId)
      return await store.tx((tx) => acknowledgeAll(tx, tools, group, now()), { tenantIds })
    } catch (error) {
      if (group.length === 1 || error instanceof StoreUnavailable) throw error
      return eachAlone(group, ({ mailbox, ids }) => alone(mailbox, ids))
    }
  }

  /** On a store whose tenants lie on several machines, a transaction covers one tenant. */
  async function run(group: readonly Acknowledgement[]): Promise<(number | Promise<number>)[]> {
    if (!store.isSharded) return together(group)
    const counts = new Map<Acknowledgement, number | Promise<number>>()
    const ofTenants = Map.groupBy(group, ({ mailbox }) => mailbox.tenantId)
    await Promise.all(
      Array.from(ofTenants.values(), async (ofTenant) => {
        const counted = await together(ofTenant).catch((error) => ofTenant.map(() => failedAlone(error)))
        for (const [i, one] of ofTenant.entries()) counts.set(one, counted[i]!)
      }),
    )
    return group.map((one) => counts.get(one)!)
  }

  const batches = makeBatches<Acknowledgement, number>({
    run,
    // A single writer runs transactions one after the other anyway: a group is what arrived before its turn.
    lanes: store.writers,
    ...(store.writers === 1 ? {} : { whileBusy: WHILE_BUSY }),
    ownerOf: ofMailbox,
    apart: store.isShared,
    maxWeight: () => MOST_IDS,
    weigh: ({ ids }) => ids.length,
    gather: store.withNextGroup,
  })
  return (mailbox, ids) => batches.add({ mailbox, ids })
}
