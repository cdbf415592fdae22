// Whether a connection is a session of its own. Behind a pooler in transaction mode it is not: each transaction may run
// in another session, and what is set in a session reaches whichever client has it next.
import type pg from 'pg'

const NEEDS_SESSIONS =
  'leads through a pooler in transaction mode, where a connection is another session from one transaction to the next. ' +
  'The service needs sessions: wake-ups are heard by LISTEN, statements are prepared, and a session that may commit without waiting for the disk would do it for the transactions of others. ' +
  'Set pool_mode = session for this database, or name the server itself'

/** The verdict that connections are not sessions. Other errors may be over at the next try. */
export class NoSessions extends Error {}

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
 * Rejects with the reason if connections are not sessions. `setting` names the address. The connections must be new ones
 * in which nothing was set, because others may get what was.
 */
export async function requireSessions(setting: string, withNewClient: WithClient): Promise<void> {
  await withNewClient(async (one) => {
    // The process id that was reported when it connected. A pooler reports ids of its own, a server only real ones.
    const named = (one as unknown as { processID: number | null }).processID
    if ((await pidOf(one)) === named) return
    await withNewClient(async (other) => {
      // A pooler hands out the session that was returned last, or the one that was returned first. So sessions are
      // returned in both orders, and either way a connection gets the session of the other.
      const [a, b] = await sideBySide(one, other)
      const [c, d] = await sideBySide(one, other)
      const [e, f] = await sideBySide(other, one)
      const [g, h] = await sideBySide(one, other)
      if (new Set([a, c, f, g]).size > 1 || new Set([b, d, e, h]).size > 1)
        throw new NoSessions(`${setting} ${NEEDS_SESSIONS}`)
    })
  })
}
