// A stream lasts no longer than its token: it ends when the token expires, its key is revoked or its agent deactivated.
import type { Identify } from '../auth/identify.ts'

interface Verified {
  token: string
  /** Whether the token is being verified. */
  verifying: boolean
}

/**
 * Does nothing while a recent verification is cached; else verifies the token, and ends the stream if it is invalid.
 */
export function endWithToken(stream: Verified, identify: Identify, end: () => void | Promise<void>): void {
  if (stream.verifying || identify.cached(stream.token)) return
  stream.verifying = true
  identify(stream.token)
    .then((principal) => (principal ? undefined : end()))
    // While the store is unavailable the token cannot be verified, and nothing can be sent either.
    .catch(() => {})
    .finally(() => (stream.verifying = false))
}
