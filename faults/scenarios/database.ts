// What a PostgreSQL server and the network before it do.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { between, type Scenario } from '../scenario.ts'

/** Every backend ends at once, without a checkpoint; the server replays its log. Leases need not be on disk. */
export const crashTheDatabase: Scenario = {
  name: 'PostgreSQL crashes',
  engines: ['postgres'],
  rounds: { long: 30, short: 1 },
  async breakOnce(site, { ledger, progress }) {
    await progress(between(5, 60))
    await site.database!.server().restart()
    ledger.leasesForgotten()
  },
}

/** Nothing is answered and nothing breaks, as with a server that swaps or a switch that drops everything. */
export const freezeTheDatabase: Scenario = {
  name: 'PostgreSQL is frozen',
  engines: ['postgres'],
  rounds: { long: 20, short: 1 },
  async breakOnce(site, { progress }) {
    await progress(between(5, 60))
    const wire = site.database!.wire()
    wire.freeze()
    await sleep(between(200, 6_000))
    await wire.cut()
    await wire.mend()
  },
}

/** The server is lost for good while its synchronous replica has all that was answered, and takes its place. */
export const failOver: Scenario = {
  name: 'PostgreSQL fails over to its synchronous replica',
  engines: ['postgres'],
  rounds: { long: 5, short: 0 },
  prepare: async () => ({ hasReplica: true }),
  async breakOnce(site, { ledger, progress }) {
    await progress(between(5, 60))
    await site.database!.failOver()
    ledger.leasesForgotten()
  },
}

export const cutTheWire: Scenario = {
  name: 'connections to PostgreSQL are cut',
  engines: ['postgres'],
  rounds: { long: 30, short: 1 },
  async breakOnce(site, { progress }) {
    await progress(between(5, 60))
    const wire = site.database!.wire()
    await wire.cut()
    await sleep(between(0, 1_000))
    await wire.mend()
  },
}

/** Others take every connection that the server has left, for a few seconds. */
export const takeAllConnections: Scenario = {
  name: 'PostgreSQL has no connection left',
  engines: ['postgres'],
  rounds: { long: 5, short: 0 },
  async breakOnce(site, { progress }) {
    await progress(between(5, 60))
    const wire = site.database!.wire()
    await wire.cut() // the nodes have to connect again, and find no room
    const taken: pg.Client[] = []
    for (;;) {
      const client = new pg.Client(site.database!.server().url)
      client.on('error', () => {})
      try {
        await client.connect()
      } catch {
        break
      }
      taken.push(client)
    }
    await wire.mend()
    await sleep(between(1_000, 3_000))
    await Promise.all(taken.map((client) => client.end()))
  },
}
