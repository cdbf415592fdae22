// A part of the service with a path of its own beside the operations: it receives every request at or below its prefix,
// whatever the method, and writes the response itself.
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
  let loading: Promise<Mount> | null = null
  return {
    prefix,
    async handle(exchange, identified) {
      // A failed load is tried again with the next request.
      loading ??= load().catch((error: unknown) => {
        loading = null
        throw error
      })
      const mount = await loading
      return mount.handle(exchange, identified)
    },
  }
}
