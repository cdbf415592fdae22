// How the command line reports an error: a sentence for a person, the envelope of the HTTP API for a program.
import { randomBytes } from 'node:crypto'
import { envelopeOf, type ErrorEnvelope } from '../kernel/error-envelope.ts'
import { Interrupted, UsageError } from './command.ts'
import { EXIT } from './exit-codes.ts'
import { OutputClosed } from './terminal/write-line.ts'

export interface ErrorReport {
  sentence: string
  envelope: ErrorEnvelope
  exitCode: number
}

/** Returns an id for an error that did not come from a request. */
export const newRequestId = (): string => `req_${randomBytes(10).toString('hex')}`

/** Describes errors that any command may meet. Returns null for errors that the kind of command describes itself. */
export function reportCommon(error: unknown, argv: readonly string[]): ErrorReport | null {
  if (error instanceof OutputClosed) return { ...reportUnexpected(error), exitCode: EXIT.outputClosed }
  if (error instanceof Interrupted) return { ...reportUnexpected(error), exitCode: EXIT.interrupted }
  if (!(error instanceof UsageError)) return null
  const details = { field: 'command', value: argv.join(' '), expected: error.expected, example: 'sensorium help' }
  return {
    sentence: error.message,
    envelope: envelopeOf({ code: 'validation_failed', message: error.message, details }, newRequestId()),
    exitCode: EXIT.usage,
  }
}

/** Describes an unexpected error. Unlike a caller of the service, the user of a command may see what went wrong. */
export function reportUnexpected(error: unknown): ErrorReport {
  const message = error instanceof Error ? error.message : String(error)
  return {
    sentence: message,
    envelope: envelopeOf({ code: 'internal_error', message, details: {} }, newRequestId()),
    exitCode: EXIT.failed,
  }
}
