// Whether a connection is a session of its own. Behind a pooler in transaction mode it is not: each transaction may run
// in another session, and what is set in a session reaches whichever client has it next.
import type pg from 'pg'

/** Why connections must be sessions, after the name of the setting with the address. */
export const NEEDS_SESSIONS =
  'leads through a pooler in transaction mode, where a connection is another session from one transaction to the next. ' +
  'The service needs sessions: wake-ups are heard by LISTEN, statements are prepared, and limits of time are set, which would reach the transactions of others. ' +
  'Set pool_mode = session for this database, or name the server itself'

/**
 * Whether a connection leads through a pooler. `pid` is the process of the server that a statement of it ran in. A
 * server reported that process when it was connected to, a pooler an id of its own.
 */
export const isPooled = (client: pg.ClientBase, pid: number): boolean =>
  (client as unknown as { processID: number | null }).processID !== pid

/** The process of the server that a statement runs in now: another one where transactions share sessions. */
const pidOf = async (client: pg.ClientBase): Promise<number> =>
  (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]!.pid

/** Returns the sessions of two transactions that are open at once, and that end in this order. */
async function sideBySide(first: pg.ClientBase, second: pg.ClientBase): Promise<[number, number]> {
  const pids: [number, number] = [0, 0]
  for (const [i, client] of [first, second].entries()) {
    await client.query('begin')
    pids[i] = await pidOf(client)
  }
  await first.query('commit')
  await second.query('commit')
  return pids
}

type WithClient = <T>(work: (client: pg.ClientBase) => Promise<T>) => Promise<T>

/**
 * Whether connections through a pooler are sessions. They must be new ones in which nothing was set, because others may
 * get what was.
 */
export const areSessions = (withNewClient: WithClient): Promise<boolean> =>
  withNewClient((one) =>
    withNewClient(async (other) => {
      // A pooler hands out the session that was returned last, or the one that was returned first. So sessions are
      // returned in both orders, and either way a connection gets the session of the other.
      const [a, b] = await sideBySide(one, other)
      const [c, d] = await sideBySide(one, other)
      const [e, f] = await sideBySide(other, one)
      const [g, h] = await sideBySide(one, other)
      return new Set([a, c, f, g]).size === 1 && new Set([b, d, e, h]).size === 1
    }),
  )
