// Acknowledgements that share a transaction. Without this, on a store with several concurrent writers, the three
// receivers of one event need three transactions and three flushes of the log: a third of all the work of PostgreSQL at
// 500 events a second. On a store with one writer, acknowledgements would begin groups of their own, and publishes
// would wait for those. There is one statement for each mailbox; they go out together.
//
// 1. An acknowledgement is on disk when it resolves, and counts the deliveries that were open in its own mailbox.
// 2. A failure of one acknowledgement does not fail the others of its group (store/together.ts).
import { makeBatches } from '../kernel/batches.ts'
import type { Store } from '../store/db.ts'
import { togetherByTenant } from '../store/together.ts'
import { acknowledgeAll, type Acknowledgement, type SettleTools } from './settle.ts'
import { ofMailbox, type Mailbox } from './sql.ts'

type Acknowledge = (mailbox: Mailbox, ids: readonly string[]) => Promise<number>

const tenantOf = ({ mailbox }: Acknowledgement): string => mailbox.tenantId

const MOST_IDS = 1_000
/** While a group is under way, another begins when this many acknowledgements wait, or one has waited this long. */
const WHILE_BUSY = { minWaiting: 16, maxWaitMs: 4 }

export function makeAcknowledge(store: Store, tools: SettleTools, now: () => number): Acknowledge {
  const commit = (group: readonly Acknowledgement[]): Promise<number[]> =>
    store.tx((tx) => acknowledgeAll(tx, tools, group, now()), { tenantIds: group.map(tenantOf) })

  const batches = makeBatches<Acknowledgement, number>({
    run: (group) => togetherByTenant(store, group, tenantOf, commit),
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
