// Chooses the server that the connections go to. With several in DATABASE_URL it is the one that takes writes. When
// that one is in doubt, all are asked; when it has changed, the connections to the old one are cut.
//
// One address can lead to another server too, by a pooler, a proxy or DNS. If that is a standby, every read succeeds
// and shows old data, and a connection that only reads would stay there for good. So each new connection asks its
// server before anything else does. That is enough: a primary becomes a standby by a restart, which ends connections.
//
// A pooler may also come back in transaction mode, in which nothing works as it should and what is set in a session
// reaches others (postgres-sessions.ts). So a new connection waits for a look at whether sessions are kept: the first
// one, the first after all were lost, and the first after one was no session. While sessions are not kept, the database
// counts as away. One lost connection leads to no look: that needs two more, which a pooler of just our size lacks.
//
// A server can also vanish silently: nobody closes the connections, and a query would wait for its timeout, 17 s. So
// while work is under way and no connection has received anything for two seconds, the servers are asked on new
// connections. A server that does not respond counts as gone, and everything that waits for it fails.
import type pg from 'pg'
import { databaseServers } from '../kernel/database-url.ts'
import { StoreUnavailable } from './db.ts'
import {
  chooseServer,
  hasServerResponded,
  hostOf,
  ifReadOnly,
  ifStandby,
  keepsSessions,
  never,
  objectionTo,
  probe,
  socketOf,
  Unsuitable,
} from './postgres-probe.ts'
import { isOtherSession } from './postgres-wire.ts'

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
  /** Reports an error by which a server went away: before the next work, the servers are asked again. */
  markInDoubt(error: unknown): void
  /** Reports that a server takes no writes any more. If work may only go to one that does, connections are cut too. */
  markDemoted(): void
  /** Cuts the connections that have not ended: their server no longer responds, and they would keep the process. */
  close(): void
}

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

/**
 * Returns a function that is told why work may not go to a server that was asked, or null if it may. It warns once if
 * work could before. A start that fails gives the reason itself.
 */
function makeNote(warn: (what: string, error: unknown) => void): (reason: string | null) => void {
  let isUsed: boolean | null = null // null until work could go to one
  return (reason) => {
    if (isUsed && reason !== null) warn('the server is not used', new Error(reason))
    if (isUsed === false && reason === null) warn('the server is used again', null)
    if (isUsed !== null || reason === null) isUsed = reason === null
  }
}

/** Returns a function whose callers share the work that is under way, and its error for a while. */
function makeShared(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null
  return () =>
    (running ??= work().then(
      () => void (running = null),
      (error: unknown) => {
        setTimeout(() => (running = null), ASK_AGAIN_MS).unref()
        throw error
      },
    ))
}

interface PoolerWatch {
  /** Whether the pooler at this address keeps sessions. Rejects if nothing is known of it and it cannot be asked. */
  keeps(url: string): Promise<boolean>
  /** The same, by a look at it in any case. */
  look(url: string): Promise<boolean>
  /** Reports that a connection through it turned out to be no session. */
  forget(url: string): void
}

/**
 * Knows which poolers keep sessions. One that did is believed without a look while a connection through it is open,
 * because its restart would have ended that, and also if it has no sessions to spare for a look. `lost` is called for
 * one that does not.
 */
function makePoolerWatch(isInUse: (url: string) => boolean, lost: (url: string) => void): PoolerWatch {
  const proven = new Set<string>()
  const overdue = new Set<string>() // could not be asked when they should have been
  const looks = new Map<string, Promise<boolean>>()

  async function ask(url: string): Promise<boolean> {
    const keeps = await keepsSessions(url)
    if (keeps === null) {
      overdue.add(url)
      if (proven.has(url)) return true
      throw new StoreUnavailable('the pooler has no two sessions to spare, which show whether it keeps sessions')
    }
    overdue.delete(url)
    if (keeps) proven.add(url)
    else {
      proven.delete(url)
      lost(url)
    }
    return keeps
  }

  function look(url: string): Promise<boolean> {
    const asked = looks.get(url) ?? ask(url).finally(() => looks.delete(url))
    looks.set(url, asked)
    return asked
  }

  return {
    keeps(url) {
      if (!proven.has(url) || !isInUse(url)) return look(url)
      if (overdue.has(url)) look(url).catch(() => {}) // nobody waits for it
      return Promise.resolve(true)
    },
    look,
    forget: (url) => void proven.delete(url),
  }
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
  const watched = new Map<pg.Client, string>()
  const examined = new WeakSet<pg.Client>() // those that work may go to
  let current = urls[0]!
  let known = !mustFindPrimary
  const note = makeNote(warn)

  function cut(where: (url: string) => boolean): void {
    for (const [client, url] of watched) {
      if (!where(url)) continue
      watched.delete(client)
      socketOf(client).destroy()
    }
  }

  // If one connection is no session, the others are none any more either.
  const pooler = makePoolerWatch(
    (address) => [...watched].some(([client, url]) => url === address && examined.has(client)),
    (address) => cut((url) => url === address),
  )
  const wanted = {
    setting: mayBeStandby ? 'DATABASE_READ_URL' : 'DATABASE_URL',
    objection: mustFindPrimary ? ifReadOnly : mayBeStandby ? never : ifStandby,
    keeps: pooler.keeps,
  }

  async function find(): Promise<void> {
    const chosen = await chooseServer(urls, current, wanted).catch((error: Error) => {
      note(error.message)
      throw error
    })
    if (chosen !== current) {
      warn('another server takes the writes now', new Error(`${hostOf(chosen)} instead of ${hostOf(current)}`))
      current = chosen
      cut((url) => url !== chosen)
    }
    known = true
  }

  const findOnce = makeShared(find)
  const ready = (): Promise<void> => (known ? Promise.resolve() : findOnce())

  async function examine(): Promise<void> {
    try {
      if (mustFindPrimary) {
        known = false
        await ready()
      } else await probe(current, { ...wanted, objection: never, keeps: pooler.look })
    } catch (error) {
      const { cause, message } = error as Error
      if (hasServerResponded(cause) || cause instanceof StoreUnavailable) return
      if (cause instanceof Unsuitable) note(message)
      else warn('the database does not respond', error)
      cut(() => true)
    }
  }

  const stopPulse = startPulse(watched, underWay, examine)

  function markInDoubt(error: unknown): void {
    if (isOtherSession(error)) pooler.forget(current)
    if (mustFindPrimary) known = false
  }

  async function examineNew(client: pg.Client): Promise<void> {
    try {
      const reason = await objectionTo(client, watched.get(client) ?? current, wanted)
      note(reason)
      if (reason === null) return void examined.add(client)
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
      client.on('error', (error) => watched.has(client) && markInDoubt(error))
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
