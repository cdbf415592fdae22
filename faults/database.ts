// The PostgreSQL of a site: one server, or one and a synchronous replica that takes its place. Each is reached through
// a wire that a scenario can cut.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { layWire, type Wire } from '../packages/server/test/support/cut-wire.ts'
import { startPostgres, type PostgresServer } from '../packages/server/test/support/postgres-server.ts'

export interface Database {
  /** What the nodes are given. */
  url: string
  /** The server that takes writes, and the wire to it. */
  server(): PostgresServer
  wire(): Wire
  /** The server is gone for good: its replica takes writes, and gets a replica of its own. */
  failOver(): Promise<void>
  stop(): Promise<void>
}

const portOf = ({ url }: PostgresServer): number => Number(new URL(url).port)

async function ask<R>({ url }: PostgresServer, ...statements: string[]): Promise<R[]> {
  const client = new pg.Client(url)
  client.on('error', () => {})
  await client.connect()
  try {
    let rows: R[] = []
    for (const sql of statements) rows = (await client.query(sql)).rows as R[]
    return rows
  } finally {
    await client.end()
  }
}

/** From now on nothing is committed on the primary before the replica has it on disk. */
async function waitForReplica(primary: PostgresServer): Promise<void> {
  await ask(primary, "alter system set synchronous_standby_names = '*'", 'select pg_reload_conf()')
  for (;;) {
    const rows = await ask<{ sync_state: string }>(primary, 'select sync_state from pg_stat_replication')
    if (rows.some(({ sync_state }) => sync_state === 'sync')) return
    await sleep(50)
  }
}

async function promote(replica: PostgresServer): Promise<void> {
  await ask(replica, 'select pg_promote()')
  for (;;) {
    const [row] = await ask<{ it: boolean }>(replica, 'select pg_is_in_recovery() as it')
    if (!row!.it) break
    await sleep(50)
  }
  // It has no replica yet, and would wait for one.
  await ask(replica, 'alter system reset synchronous_standby_names', 'select pg_reload_conf()')
}

export async function startDatabase(hasReplica: boolean): Promise<Database> {
  let primary = await startPostgres()
  let replica: PostgresServer | null = null
  const wires = [await layWire(portOf(primary))]
  let first = 0
  if (hasReplica) {
    replica = await primary.standby()
    wires.push(await layWire(portOf(replica)))
    await waitForReplica(primary)
  }
  const hosts = wires.map(({ port }) => `127.0.0.1:${port}`).join(',')
  return {
    url: `postgres://postgres@${hosts}/postgres${hasReplica ? '?target_session_attrs=read-write' : ''}`,
    server: () => primary,
    wire: () => wires[first]!,
    async failOver() {
      await primary.stop()
      await promote(replica!)
      primary = replica!
      first = 1 - first
      replica = await primary.standby()
      wires[1 - first]!.lead(portOf(replica))
      await waitForReplica(primary)
    },
    async stop() {
      for (const wire of wires) await wire.cut()
      await replica?.stop()
      await primary.stop()
    },
  }
}
