// A stream lasts no longer than its token: it ends when the token expires, its key is revoked or its agent deactivated.
import type { Identify } from '../auth/identify.ts'

export interface Verified {
  token: string
  /** A look at its key is under way. */
  verifying: boolean
}

/**
 * Costs nothing while the key was looked at a moment ago; else looks, and ends the stream whose token holds no longer.
 */
export function endWithToken(stream: Verified, identify: Identify, end: () => void | Promise<void>): void {
  if (stream.verifying || identify.cached(stream.token)) return
  stream.verifying = true
  identify(stream.token)
    .then((principal) => (principal ? undefined : end()))
    // Nobody can say while the store is away; nothing can be sent either.
    .catch(() => {})
    .finally(() => (stream.verifying = false))
}
