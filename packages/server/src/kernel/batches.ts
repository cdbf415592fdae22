// Batches work that is cheaper together: items added in the same turn of the event loop, or while every lane is busy,
// become the next batch. A lone item waits only for the end of its turn, unless `whileBusy` makes it wait for others.
//
// 1. An item is in exactly one batch, and is settled when its batch is.
// 2. At most `lanes` batches are under way at once, and one more of urgent items.
// 3. A batch that throws rejects its own items and no others.
import { makeCounts } from './counts.ts'
import { fairQueue } from './fair-queue.ts'

interface BatchOptions<Item, Result> {
  /** Carries out a batch. Returns a result for each item, in order; a promise that rejects fails its item alone. */
  run(items: readonly Item[]): Promise<readonly (Result | Promise<Result>)[]>
  /** The most batches under way at once; unbounded by default. */
  lanes?: number
  /** The most items in one batch. */
  maxItems?: number
  /**
   * A batch is full when its items weigh this much together. An item that weighs as much alone has a batch of its own:
   * the others would take as long as it does.
   */
  maxWeight?(): number
  weigh?(item: Item): number
  /**
   * Returns who added an item: tenants take turns, and senders inside a tenant. Without it, first come, first served.
   */
  ownerOf?(item: Item): Owner
  /**
   * A tenant with nothing under way shares no batch with tenants that have something under way, and gets a batch beside
   * all lanes when those are busy. In one batch with a tenant that floods, its items took as long as the flood.
   */
  apart?: boolean
  /** Calls `begin` when the next batch is to be put together; by default at the end of the turn. */
  gather?(begin: () => void): void
  /**
   * While a batch is under way, another begins only when `minWaiting` items wait, or one has waited `maxWaitMs`. If
   * each batch has a cost of its own, two small ones are dearer than one.
   */
  whileBusy?: { minWaiting: number; maxWaitMs: number }
}

export interface Owner {
  tenantId: string
  senderId: string
}

interface Waiting<Item, Result> {
  readonly item: Item
  resolve(result: Result | Promise<Result>): void
  reject(error: unknown): void
}

interface Batches<Item, Result> {
  add(item: Item): Promise<Result>
}

/**
 * Returns the failure of one item, for `run` to return among its results. Only the caller that added the item sees it;
 * until then it is no unhandled rejection.
 */
export function failedAlone(error: unknown): Promise<never> {
  const failed = Promise.reject(error)
  failed.catch(() => {})
  return failed
}

const NO_OWNER: Owner = { tenantId: '', senderId: '' }

export function makeBatches<Item, Result>(options: BatchOptions<Item, Result>): Batches<Item, Result> {
  const { run, lanes = Infinity, maxItems = Infinity, maxWeight = () => Infinity, weigh = () => 0, whileBusy } = options
  const { gather = setImmediate, ownerOf = () => NO_OWNER, apart = false } = options
  const queue = fairQueue<Waiting<Item, Result>>()
  /** The batches under way in which each tenant has items. */
  const underWay = makeCounts()
  let busy = 0
  let scheduled = false
  let waitTimer: NodeJS.Timeout | null = null

  const isUrgent = (): boolean => apart && busy > 0 && queue.hasOther(underWay.has)
  const mayBegin = (): boolean => queue.size > 0 && (busy < lanes || (busy === lanes && isUrgent()))
  const isWorthIt = (): boolean =>
    whileBusy === undefined || busy === 0 || queue.size >= whileBusy.minWaiting || isUrgent()

  function schedule(): void {
    if (scheduled || !mayBegin()) return
    if (!isWorthIt()) {
      waitTimer ??= setTimeout(begin, whileBusy!.maxWaitMs)
      return
    }
    scheduled = true
    gather(() => {
      scheduled = false
      while (mayBegin() && isWorthIt()) begin()
      schedule()
    })
  }

  function begin(): void {
    if (waitTimer) clearTimeout(waitTimer)
    waitTimer = null
    let count = 0
    let weight = 0
    const enough = maxWeight()
    const isFull = ({ item }: Waiting<Item, Result>): boolean =>
      ++count >= maxItems || (weight += weigh(item)) >= enough
    const joins = ({ item }: Waiting<Item, Result>): boolean => weigh(item) < enough
    const batch = queue.take(isFull, isUrgent() ? underWay.has : undefined, joins)
    const tenants = apart ? new Set(batch.map(({ item }) => ownerOf(item).tenantId)) : []
    for (const tenantId of tenants) underWay.add(tenantId, 1)
    busy++
    void carryOut(batch).finally(() => {
      busy--
      for (const tenantId of tenants) underWay.add(tenantId, -1)
      schedule()
    })
  }

  async function carryOut(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await run(batch.map(({ item }) => item))
      if (results.length !== batch.length) throw new Error(`${batch.length} items gave ${results.length} results`)
      batch.forEach(({ resolve }, i) => resolve(results[i]!))
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  return {
    add: (item) =>
      new Promise<Result>((resolve, reject) => {
        const { tenantId, senderId } = ownerOf(item)
        queue.push(tenantId, senderId, { item, resolve, reject })
        schedule()
      }),
  }
}
