// A part of the service with a path of its own beside the operations: it is given every request at or below its prefix,
// whatever the method, and writes the response itself.
import type { Exchange } from './exchange.ts'

export interface Mount {
  /** `/mcp`: with a slash in front and none at the end. */
  prefix: string
  /**
   * Calls `identified` once `exchange.principal` is known: its place then counts as the agent's. What it throws or
   * rejects with becomes the response, in the envelope of every error.
   */
  handle(exchange: Exchange, identified: () => void): void | Promise<void>
}
