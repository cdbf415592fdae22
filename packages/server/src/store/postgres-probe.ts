// Asks a server what it is, and a pooler whether it keeps sessions, before work goes there.
import type net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { StoreUnavailable } from './db.ts'
import { areSessions, isPooled, NEEDS_SESSIONS } from './postgres-sessions.ts'

const PROBE_WITHIN_MS = 2_500
/**
 * The server that took writes so far keeps the work if it confirms that within this time, even if others would take it.
 */
const STAY_WITHIN_MS = 1_000

export const socketOf = (client: pg.Client): net.Socket =>
  (client as unknown as { connection: { stream: net.Socket } }).connection.stream

export const hostOf = (url: string): string => new URL(url).host

/** What a server says of itself, and the process that says it. A standby takes no writes either. */
interface Role {
  read_only: boolean
  standby: boolean
  pid: number
}
const ROLE = `select current_setting('transaction_read_only') = 'on' as read_only, pg_is_in_recovery() as standby,
  pg_backend_pid() as pid`

async function roleOf(client: pg.Client): Promise<Role> {
  const { rows } = await client.query<Role>({ text: ROLE, query_timeout: PROBE_WITHIN_MS } as pg.QueryConfig)
  return rows[0]!
}

/** Returns why work may not go to a server, or null if it may. */
type Objection = (role: Role) => string | null
export const ifReadOnly: Objection = ({ read_only }) => (read_only ? 'it takes no writes' : null)
/** A single server whose disk is full may be read-only, and still holds all the data: it can be read. */
export const ifStandby: Objection = ({ standby }) => (standby ? 'it is a standby' : null)
export const never: Objection = () => null

/**
 * Runs work on a connection to this server in which nothing is set, and which nobody waits for longer than for a probe.
 */
async function onProbe<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: PROBE_WITHIN_MS,
    query_timeout: PROBE_WITHIN_MS,
    application_name: 'sensorium',
  })
  client.on('error', () => {})
  try {
    await client.connect()
    return await work(client)
  } finally {
    socketOf(client).destroy()
  }
}

/** Whether a pooler keeps sessions, or null if it could not be asked: it may have none to spare. */
export const keepsSessions = (url: string): Promise<boolean | null> =>
  areSessions((work) => onProbe(url, work)).catch(() => null)

/** Which servers work may go to. `setting` names their addresses, and `keeps` says whether a pooler keeps sessions. */
interface Wanted {
  setting: string
  objection: Objection
  keeps: (url: string) => Promise<boolean>
}

/** Work may not go to a server, which responds. */
export class Unsuitable extends Error {}

/** Returns why work may not go to the server of this connection to the address, or null if it may. */
export async function objectionTo(
  client: pg.Client,
  url: string,
  { setting, objection, keeps }: Wanted,
): Promise<string | null> {
  const role = await roleOf(client)
  const reason = objection(role)
  if (reason !== null || !isPooled(client, role.pid)) return reason
  return (await keeps(url)) ? null : `${setting} ${NEEDS_SESSIONS}`
}

/** Returns the address if its server responds and work may go there. */
export async function probe(url: string, wanted: Wanted): Promise<string> {
  try {
    const reason = await onProbe(url, (client) => objectionTo(client, url, wanted))
    if (reason !== null) throw new Unsuitable(reason)
    return url
  } catch (error) {
    throw new Error(`${hostOf(url)}: ${(error as Error).message || (error as { code?: string }).code}`, {
      cause: error,
    })
  }
}

/**
 * The server is there and refuses, because of too many connections for example. A code of five characters comes from
 * the server, any other from the socket; class 57 means that the server is starting or stopping.
 */
export const hasServerResponded = (error: unknown): boolean =>
  /^(?!57)[0-9A-Z]{5}$/.test((error as { code?: string })?.code ?? '')

/** Asks all servers, and returns the address of one that work may go to. Rejects if there is none. */
export async function chooseServer(urls: readonly string[], current: string, wanted: Wanted): Promise<string> {
  const probes = urls.map((url) => probe(url, wanted))
  for (const asked of probes) asked.catch(() => {})
  const stays = probes[urls.indexOf(current)]!.catch((error: Error) =>
    hasServerResponded(error.cause) ? current : null,
  )
  return (
    (await Promise.race([stays, sleep(STAY_WITHIN_MS, null, { ref: false })])) ??
    (await Promise.any(probes).catch(({ errors }: AggregateError) => {
      throw new StoreUnavailable(`no server can be used: ${errors.map((error: Error) => error.message).join('; ')}`)
    }))
  )
}
