// Nodes that share a store go by its clock, because leases, delays and tokens are compared with times that other nodes
// wrote.
import type { Clock } from '../kernel/clock.ts'
import { one, type Db, type Store } from './db.ts'

/** Measures how far the node's clock is from the store's, and corrects it. Does nothing if the store has no clock. */
export async function followClock(store: Store, clock: Clock): Promise<void> {
  const asked = clock.elapsed()
  const time = await store.serverTime()
  if (time === null) return
  // The server read its clock somewhere between the request and the response. A response that took long says little,
  // and corrects little.
  const took = clock.elapsed() - asked
  clock.align(time, asked + took / 2, took / 2)
}

/** Nodes agree to within this. It is above the error of a measurement, so that two nodes do not drive each other on. */
const AGREED_MS = 500

/**
 * A database's clock that was ahead by more than this is no time to keep to: it would take years to be right again. A
 * node that starts then begins with the right time, so all of them should be started again.
 */
const MOST_AHEAD_MS = 86_400_000

/** Writes down how far the nodes are ahead of the store's clock. The last node wins: they agree. */
const noteAhead = (tx: Db, ahead: number): Promise<number> =>
  tx.run(
    "insert into settings (name, value) values ('ahead', ?) on conflict (name) do update set value = excluded.value",
    [String(ahead)],
  )

/**
 * After the store's clock was set back, the nodes that saw the later time stay ahead of it for a while. A node that did
 * not see it, or started since, goes ahead as far: otherwise the two would hand out the same delivery, and refuse the
 * tokens of each other.
 */
export async function agreeOnTime(store: Store, clock: Clock): Promise<void> {
  if (!store.isShared) return
  const row = await one<{ value: string }>(store, "select value from settings where name = 'ahead'")
  const noted = Number(row?.value ?? 0)
  const ahead = clock.ahead()
  if (ahead > MOST_AHEAD_MS) return
  if (noted - ahead > AGREED_MS) clock.catchUp(noted)
  else if (ahead > AGREED_MS || noted > 0)
    await store.tx((tx) => noteAhead(tx, ahead > AGREED_MS ? ahead : 0), { mayBeLost: true })
}
