// Look-ups by key share a few connections and are sent without waiting for each other's results: 21 µs each instead of
// 54 through the pool. Only quick queries may run here, because a result waits for the results before it.
import type pg from 'pg'
import { StoreUnavailable, type Value } from './db.ts'
import { lacksStatement, send, setUp } from './postgres-wire.ts'

const LANES = 2

interface Lane {
  client: pg.Client | null
  connecting: Promise<pg.Client> | null
  waiting: number
}

export interface LookUps {
  rows<R>(sql: string, values: readonly Value[]): Promise<R[]>
  stats(): { connections: number; idle: number }
  close(): Promise<void>
}

/** `withinMs` is the limit of one look-up at the server. */
export function makeLookUps(
  makeClient: () => pg.Client,
  withinMs: number,
  warn: (what: string, error: unknown) => void,
): LookUps {
  const lanes = Array.from({ length: LANES }, (): Lane => ({ client: null, connecting: null, waiting: 0 }))

  // A lost connection is abandoned; the next look-up opens another.
  async function connect(lane: Lane): Promise<pg.Client> {
    const client = makeClient()
    const leave = (): void => {
      if (lane.client === client) lane.client = null
    }
    client.on('error', (error) => {
      warn('a connection was lost', error)
      leave()
    })
    client.on('end', leave)
    try {
      await client.connect()
      setUp(client, withinMs)
      // Mailboxes are read in the order of their index, as claims do (postgres-wire.ts).
      client.query('set enable_bitmapscan = off').catch(() => {})
    } catch (error) {
      client.end().catch(() => {})
      // Whatever the server says: without a connection it is away.
      throw new StoreUnavailable((error as Error).message, { cause: error })
    } finally {
      lane.connecting = null
    }
    return (lane.client = client)
  }

  return {
    async rows<R>(sql: string, values: readonly Value[]) {
      const lane = lanes.reduce((least, other) => (other.waiting < least.waiting ? other : least))
      lane.waiting++
      try {
        const client = lane.client ?? (await (lane.connecting ??= connect(lane)))
        return (await send(client, sql, values)).rows as R[]
      } catch (error) {
        if (lacksStatement(error)) {
          lane.client?.end().catch(() => {})
          lane.client = null
        }
        throw error
      } finally {
        lane.waiting--
      }
    },
    stats: () => ({
      connections: lanes.filter((lane) => lane.client !== null).length,
      idle: lanes.filter((lane) => lane.client !== null && lane.waiting === 0).length,
    }),
    async close() {
      for (const lane of lanes) await lane.client?.end().catch(() => {})
    },
  }
}
