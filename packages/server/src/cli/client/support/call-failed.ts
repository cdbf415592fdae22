// An error of a call, together with the service that was called and whose key it was called with. The error knows
// neither, and whoever has several profiles must learn which of them is wrong.
import { ConnectionError, SensoriumError } from '@sensorium/client'
import type { CommandResult } from '../../command.ts'

export interface Called {
  url: string
  /** Whose key it was; null for SENSORIUM_KEY, undefined for a key that was just entered. */
  profile: string | null | undefined
}

export class CallFailed extends Error {
  readonly called: Called
  override readonly cause: SensoriumError | ConnectionError

  constructor(cause: SensoriumError | ConnectionError, called: Called) {
    super(cause.message, { cause })
    this.cause = cause
    this.called = called
  }
}

/** Returns the error of a call with what was called, and any other error as it is. */
export const failedAt = (called: Called, error: unknown): unknown =>
  error instanceof SensoriumError || error instanceof ConnectionError ? new CallFailed(error, called) : error

/** Adds what was called to the error with which a command fails, at once or after a part of its work. */
export async function withCalled(called: Called, work: Promise<CommandResult>): Promise<CommandResult> {
  try {
    const result = await work
    return result.failedWith === undefined ? result : { ...result, failedWith: failedAt(called, result.failedWith) }
  } catch (error) {
    throw failedAt(called, error)
  }
}
