// A part of the service with a path of its own beside the operations: it receives every request at or below its prefix,
// whatever the method, and writes the response itself.
import { loadOnce } from '../kernel/load-once.ts'
import type { Exchange } from './exchange.ts'

export interface Mount {
  /** Such as `/mcp`: with a slash in front and none at the end. */
  prefix: string
  /**
   * Serves a request. Calls `identified` once `exchange.principal` is known: the place of the request then counts as
   * the agent's. An error that this throws or rejects with becomes the response, in the envelope of every error.
   */
  handle(exchange: Exchange, identified: () => void): void | Promise<void>
}

/** A mount whose code is loaded with its first request: a library takes no memory on a node that does not use it. */
export function loadedWhenUsed(prefix: string, load: () => Promise<Mount>): Mount {
  const loaded = loadOnce(load)
  return { prefix, handle: async (exchange, identified) => (await loaded()).handle(exchange, identified) }
}
