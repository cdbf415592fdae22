// Chooses the server that the connections go to. With several in DATABASE_URL it is the one that takes writes. When
// that one is in doubt, all are asked; when it has changed, the connections to the old one are cut.
//
// One address can lead to another server too, by a pooler, a proxy or DNS. If that is a standby, every read succeeds
// and shows old data, and a connection that only reads would stay there for good. So each new connection asks its
// server before anything else does. That is enough: a primary becomes a standby by a restart, which ends connections.
//
// A server can also vanish silently: nobody closes the connections, and a query would wait for its timeout, 17 s. So
// while work is under way and no connection has received anything for two seconds, the servers are asked on new
// connections. A server that does not respond counts as gone, and everything that waits for it fails.
import type net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { databaseServers } from '../kernel/database-url.ts'
import { StoreUnavailable } from './db.ts'

const PROBE_WITHIN_MS = 2_500
/**
 * The server that took writes so far keeps the work if it confirms that within this time, even if others would take it.
 */
const STAY_WITHIN_MS = 1_000
/** After no server took writes, callers within this time get the same error. */
const ASK_AGAIN_MS = 250
const PULSE_MS = 1_000
const SILENT_PULSES = 2

export interface Servers {
  /** Whether it is unknown which server takes writes: at first, and after something went wrong. */
  inDoubt(): boolean
  /** Resolves when the server that takes writes is known. */
  ready(): Promise<void>
  /** The address to connect to. */
  url(): string
  /** Watches a connection, and cuts it when its server is lost. */
  watch(client: pg.Client): void
  /** Rejects, and ends a new connection, if its server is not one that the work may go to. */
  examineNew(client: pg.Client): Promise<void>
  /** Reports that a server went away: before the next work, the servers are asked again. */
  markInDoubt(): void
  /** Reports that a server takes no writes any more. If work may only go to one that does, connections are cut too. */
  markDemoted(): void
  /** Cuts the connections that have not ended: their server no longer responds, and they would keep the process. */
  close(): void
}

const socketOf = (client: pg.Client): net.Socket =>
  (client as unknown as { connection: { stream: net.Socket } }).connection.stream

const hostOf = (url: string): string => new URL(url).host

/** What a server says of itself. A standby takes no writes either. */
interface Role {
  read_only: boolean
  standby: boolean
}
const ROLE = "select current_setting('transaction_read_only') = 'on' as read_only, pg_is_in_recovery() as standby"

/** Returns why work may not go to a server, or null if it may. */
type Objection = (role: Role) => string | null
const ifReadOnly: Objection = ({ read_only }) => (read_only ? 'it takes no writes' : null)
/** A single server whose disk is full may be read-only, and still holds all the data: it can be read. */
const ifStandby: Objection = ({ standby }) => (standby ? 'it is a standby' : null)
const never: Objection = () => null

async function probe(url: string, objection: Objection): Promise<string> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: PROBE_WITHIN_MS,
    query_timeout: PROBE_WITHIN_MS,
    application_name: 'sensorium',
  })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<Role>(ROLE)
    const reason = objection(rows[0]!)
    if (reason !== null) throw new Error(reason)
    return url
  } catch (error) {
    throw new Error(`${hostOf(url)}: ${(error as Error).message || (error as { code?: string }).code}`, {
      cause: error,
    })
  } finally {
    socketOf(client).destroy()
  }
}

/**
 * The server is there and refuses, because of too many connections for example. A code of five characters comes from
 * the server, any other from the socket; class 57 means that the server is starting or stopping.
 */
const hasServerResponded = (error: unknown): boolean =>
  /^(?!57)[0-9A-Z]{5}$/.test((error as { code?: string })?.code ?? '')

/**
 * Calls `examine` when work is under way and no connection has received anything for a while. Returns a function that
 * stops this.
 */
function startPulse(
  watched: ReadonlyMap<pg.Client, string>,
  underWay: () => boolean,
  examine: () => Promise<void>,
): () => void {
  let received = -1
  let silent = 0
  let isExamining = false

  async function examineOnce(): Promise<void> {
    isExamining = true
    try {
      await examine()
    } finally {
      isExamining = false
      silent = 0
    }
  }

  const pulse = setInterval(() => {
    let bytes = 0
    for (const client of watched.keys()) bytes += socketOf(client).bytesRead
    silent = underWay() && watched.size > 0 && bytes === received ? silent + 1 : 0
    received = bytes
    if (silent >= SILENT_PULSES && !isExamining) void examineOnce()
  }, PULSE_MS)
  pulse.unref()
  return () => clearInterval(pulse)
}

/** `mayBeStandby` is for the connections to a replica. */
export function makeServers(
  given: string,
  mayBeStandby: boolean,
  underWay: () => boolean,
  warn: (what: string, error: unknown) => void,
): Servers {
  const parsed = databaseServers(given)
  if (!parsed) throw new Error('DATABASE_URL is not the address of a PostgreSQL database')
  const { urls, mustFindPrimary } = parsed
  const objection = mustFindPrimary ? ifReadOnly : mayBeStandby ? never : ifStandby
  const watched = new Map<pg.Client, string>()
  let current = urls[0]!
  let known = !mustFindPrimary
  let finding: Promise<void> | null = null

  function cut(where: (url: string) => boolean): void {
    for (const [client, url] of watched) {
      if (!where(url)) continue
      watched.delete(client)
      socketOf(client).destroy()
    }
  }

  async function find(): Promise<void> {
    const probes = urls.map((url) => probe(url, objection))
    for (const asked of probes) asked.catch(() => {})
    const stays = probes[urls.indexOf(current)]!.catch((error: Error) =>
      hasServerResponded(error.cause) ? current : null,
    )
    const chosen =
      (await Promise.race([stays, sleep(STAY_WITHIN_MS, null, { ref: false })])) ??
      (await Promise.any(probes).catch(({ errors }: AggregateError) => {
        throw new StoreUnavailable(`no server takes writes: ${errors.map((error: Error) => error.message).join('; ')}`)
      }))
    if (chosen !== current) {
      warn('another server takes the writes now', new Error(`${hostOf(chosen)} instead of ${hostOf(current)}`))
      current = chosen
      cut((url) => url !== chosen)
    }
    known = true
  }

  function ready(): Promise<void> {
    if (known) return Promise.resolve()
    finding ??= find().then(
      () => void (finding = null),
      (error: unknown) => {
        setTimeout(() => (finding = null), ASK_AGAIN_MS).unref()
        throw error
      },
    )
    return finding
  }

  async function examine(): Promise<void> {
    try {
      if (mustFindPrimary) {
        known = false
        await ready()
      } else await probe(current, never)
    } catch (error) {
      if (hasServerResponded((error as Error).cause)) return
      warn('the database does not respond', error)
      cut(() => true)
    }
  }

  const stopPulse = startPulse(watched, underWay, examine)

  function markInDoubt(): void {
    if (mustFindPrimary) known = false
  }

  async function examineNew(client: pg.Client): Promise<void> {
    if (objection === never) return
    try {
      const { rows } = await client.query<Role>({ text: ROLE, query_timeout: PROBE_WITHIN_MS } as pg.QueryConfig)
      const reason = objection(rows[0]!)
      if (reason === null) return
      // From now on the address is asked on one connection at a time, instead of by all the work that waits for it.
      known = false
      throw new StoreUnavailable(`${hostOf(current)}: ${reason}`)
    } catch (error) {
      client.end().catch(() => {})
      throw error
    }
  }

  return {
    inDoubt: () => !known,
    ready,
    url: () => current,
    watch(client) {
      watched.set(client, current)
      // An idle connection that is lost shows that something happened before any work fails.
      client.on('error', () => watched.has(client) && markInDoubt())
      client.once('end', () => watched.delete(client))
    },
    examineNew,
    markInDoubt,
    markDemoted() {
      if (!mustFindPrimary) return
      known = false
      cut(() => true)
    },
    close() {
      stopPulse()
      cut(() => true)
    },
  }
}
