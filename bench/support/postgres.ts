// A PostgreSQL server for measurements, as one that has run for a while.
import pg from 'pg'
import { startPostgres as startNew, type PostgresServer } from '../../packages/server/test/support/postgres-server.ts'

/** Segments of 16 MB: more than any measurement writes before the next checkpoint gives some back. */
const SEGMENTS = 32

/**
 * A server that has run for a while writes its log into files of older logs. A new one makes each file when it is
 * needed: 16 MB of zeros and their flush, during which nothing commits, for up to 0.8 s.
 */
export async function startPostgres(): Promise<PostgresServer> {
  const server = await startNew({ min_wal_size: `${SEGMENTS * 16}MB` })
  const client = new pg.Client(server.url)
  await client.connect()
  // Begins a new file each time; the checkpoint keeps them for later.
  for (let i = 0; i < SEGMENTS; i++)
    await client.query("select pg_logical_emit_message(false, 'bench', ''), pg_switch_wal()")
  await client.query('checkpoint')
  await client.end()
  return server
}
