// Acknowledgements that share a transaction. Where several writers gain from running side by side, a transaction has a
// cost of its own and a flush of the log to wait for: three receivers of one event took three of each, a third of all
// that PostgreSQL had to do at 500 events a second. Where there is one writer, acknowledgements began groups of their
// own, and publishes waited for those. Statements stay one for each mailbox and go out together.
//
// 1. An acknowledgement is on disk when it resolves, and counts what was open in its own mailbox.
// 2. What one of a group runs into is not its neighbours' trouble: then each is done alone.
import { eachAlone, failedAlone, makeBatches } from '../kernel/batches.ts'
import { StoreUnavailable, type Store } from '../store/db.ts'
import { acknowledge, acknowledgeAll, type Acknowledgement, type SettleTools } from './settle.ts'
import { ofMailbox, type Mailbox } from './sql.ts'

type Acknowledge = (mailbox: Mailbox, ids: readonly string[]) => Promise<number>

const MOST_IDS = 1_000
/** Beside a group under way another begins when so many wait, or one has waited so long. */
const BESIDE = { worth: 16, patienceMs: 4 }

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

  /** Where tenants lie on several machines a transaction is of one of them. */
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
    // One writer does one after the other whatever is asked for: there a group is what came before its turn.
    lanes: store.writers,
    ...(store.writers === 1 ? {} : { beside: BESIDE }),
    whose: ofMailbox,
    apart: store.isShared,
    maxWeight: () => MOST_IDS,
    weigh: ({ ids }) => ids.length,
    gather: store.alongside,
  })
  return (mailbox, ids) => batches.add({ mailbox, ids })
}
