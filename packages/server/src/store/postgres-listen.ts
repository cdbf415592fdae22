// The connection that hears NOTIFY. While it is away nothing is heard, and every waiter falls back to its own polling.
import type pg from 'pg'
import { backoffMs } from '../kernel/backoff.ts'
import type { Clock } from '../kernel/clock.ts'
import { Stop } from '../kernel/stop.ts'
import type { Value } from './db.ts'

/** A connection that was dropped without a word, by a NAT for example, looks like one on which nothing happens. */
const ASK_EVERY_MS = 15_000

/** Returns the statement that sends a message to all nodes, and its values. The message begins with its sender. */
export const messageSql = (node: string, channel: string, payload: string): [string, Value[]] => [
  'select pg_notify(?, ?)',
  [channel, `${node} ${payload}`],
]

export interface Listening {
  /** Calls `hear` with what other nodes send on a channel from now on. The first call opens the connection. */
  listen(channel: string, hear: (payload: string) => void): void
  close(): Promise<void>
}

/** `connect` returns an open connection, on which a query that gets no response fails. `node` is this one's name. */
export function makeListening(
  connect: () => Promise<pg.Client>,
  node: string,
  clock: Clock,
  warn: (what: string, error: unknown) => void,
): Listening {
  const closing = new AbortController()
  const listeners = new Map<string, ((payload: string) => void)[]>()
  let listening: pg.Client | undefined
  let hearing: Promise<void> | undefined

  async function hearUntilLost(client: pg.Client, connected: () => void): Promise<void> {
    const lost = new Stop()
    const lose = (): void => lost.stop()
    client.on('error', lose).on('end', lose)
    client.on('notification', ({ channel, payload = '' }) => {
      const [sender] = payload.split(' ', 1) as [string]
      // A message comes back to its sender, which has acted already: a waiter that is woken twice claims twice.
      if (sender !== node) listeners.get(channel)?.forEach((hear) => hear(payload.slice(sender.length + 1)))
    })
    for (const channel of listeners.keys()) await client.query(`listen ${channel}`)
    listening = client
    connected()
    // If it was closed while connecting, nobody else ends this connection.
    while (!lost.aborted && !closing.signal.aborted) {
      await clock.sleep(ASK_EVERY_MS, lost)
      if (!lost.aborted) await client.query('select 1')
    }
  }

  async function keepListening(): Promise<void> {
    for (let failures = 0; !closing.signal.aborted; ) {
      let client: pg.Client | undefined
      try {
        client = await connect()
        await hearUntilLost(client, () => (failures = 0))
      } catch (error) {
        if (failures === 0) warn('the connection for wake-ups was lost', error)
      }
      listening = undefined
      await client?.end().catch(() => {})
      await clock.sleep(backoffMs({ firstMs: 200, maxMs: 5_000 }, ++failures), closing.signal)
    }
  }

  return {
    listen(channel, hear) {
      listeners.set(channel, [...(listeners.get(channel) ?? []), hear])
      listening?.query(`listen ${channel}`).catch(() => {})
      hearing ??= keepListening()
    },
    async close() {
      closing.abort()
      await listening?.end().catch(() => {})
      await hearing
    },
  }
}
