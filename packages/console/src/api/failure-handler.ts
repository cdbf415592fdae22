// What a failed request means beyond the place where it is shown: a key that is refused ends the session, and a service
// that cannot be reached has its banner. Requests that the query cache does not make are handled by the same function.
import { ConnectionError } from '@sensorium/client'
import { isSignedOut } from '../session/session.ts'
import { setReachable } from './reachable.ts'

export type FailureHandler = (error: unknown) => void

export const makeFailureHandler =
  (signedOut: () => void): FailureHandler =>
  (error) => {
    if (isSignedOut(error)) signedOut()
    if (error instanceof ConnectionError) setReachable(false)
  }
