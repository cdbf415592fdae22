// Decides which node runs which connector. Every node looks at all connectors every two seconds, and after each change
// that is announced to it.
//
// 1. A connector runs on the node that holds its lease. A lease lasts ten seconds and is renewed every two, so when
//    this node dies, another takes over within twelve seconds.
// 2. A node that could not renew a lease stops receiving two seconds before the lease ends, so it has stopped before
//    another node starts. If a clock is wrong by more, the event id still keeps a message from becoming two events.
// 3. The counts of a connector are written with the renewal; a crash loses the counts of two seconds, never a message.
// 4. With the embedded store there is one node: any other holder of a lease is a process that is gone.
import { randomUUID } from 'node:crypto'
import type { ConnectorState } from '@sensorium/contract'
import { oneAtATime } from '../../kernel/one-at-a-time.ts'
import { makeHeldConnectors, type SupervisorTools } from './held-connectors.ts'
import { allConnectors } from './sql.ts'

export interface Supervisor {
  /** Looks at every connector once: starts, renews, stops. Calls made during a look share the one after it. */
  runOnce(): Promise<void>
  /** Stops connectors that this node may no longer run, whether the store responds or not. */
  stopLapsed(): Promise<void>
  /** How many connectors this node runs, by state. */
  states(): Partial<Record<ConnectorState, number>>
  /** Stops all connectors and frees their leases. No connector starts afterwards. */
  close(): Promise<void>
}

const STOP_BEFORE_MS = 2_000

export function makeSupervisor(tools: SupervisorTools): Supervisor {
  const { store, clock, log } = tools
  const node = randomUUID()
  const held = makeHeldConnectors(tools, node)
  let closed = false

  // An error of one connector does not affect the others.
  const guarded = (id: string, work: Promise<void>): Promise<void> =>
    work.catch((error: unknown) => log.warn({ err: error, connector: id }, 'connector could not be looked after'))

  const look = oneAtATime(async () => {
    if (closed) return
    const rows = await allConnectors(store)
    const wanted = new Set<string>()
    const now = clock.now()
    const work: Promise<void>[] = []
    for (const row of rows) {
      if (row.paused === 1) continue
      wanted.add(row.id)
      const entry = held.all.get(row.id)
      const free = row.expires_at === null || row.expires_at <= now || row.node === node || !store.isShared
      if (entry) work.push(guarded(row.id, held.renew(entry)))
      else if (free) work.push(guarded(row.id, held.start(row)))
    }
    for (const [id, entry] of held.all)
      if (!wanted.has(id)) work.push(guarded(id, held.stop(entry, 'paused or deleted')))
    await Promise.all(work)
  })

  const supervisor: Supervisor = {
    runOnce: look,
    async stopLapsed() {
      const now = clock.now()
      const lapsed = [...held.all.values()].filter(({ until }) => now >= until - STOP_BEFORE_MS)
      await Promise.all(
        lapsed.map((entry) => guarded(entry.lease.id, held.stop(entry, 'the lease could not be renewed'))),
      )
    },
    states() {
      const states: Partial<Record<ConnectorState, number>> = {}
      for (const { connector } of held.all.values()) states[connector.state()] = (states[connector.state()] ?? 0) + 1
      return states
    },
    async close() {
      closed = true
      await look().catch(() => {}) // waits for one that is under way
      await Promise.all(
        [...held.all.values()].map((entry) => guarded(entry.lease.id, held.stop(entry, 'shutting down'))),
      )
    },
  }
  tools.announcements.listen('connectors', () => {
    supervisor.runOnce().catch((error: unknown) => log.warn({ err: error }, 'connectors could not be looked at'))
  })
  return supervisor
}
