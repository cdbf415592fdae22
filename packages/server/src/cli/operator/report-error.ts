// Errors of the operator's commands: those of the operations, of the configuration and of the store.
import { ConfigError } from '../../config.ts'
import { envelopeOf } from '../../kernel/error-envelope.ts'
import { Failure, internal, invalid, ruleBroken, unavailable } from '../../kernel/failure.ts'
import { StoreUnavailable } from '../../store/db.ts'
import { Unsupported } from '../command.ts'
import { EXIT, exitCodeFor } from '../exit-codes.ts'
import { newRequestId, type ErrorReport } from '../error-report.ts'

function operatorFailure(error: unknown): Failure {
  if (error instanceof Failure) return error
  if (error instanceof ConfigError)
    return invalid({ field: 'environment', value: null, expected: error.problems.join('; '), example: null })
  if (error instanceof StoreUnavailable) return unavailable(`${error.callerMessage}: ${error.message}`)
  if (error instanceof Unsupported) return ruleBroken('unsupported_store', error.message, { instead: error.instead })
  // The operator runs this command and, unlike a caller of the service, may see what went wrong.
  return new Failure('internal_error', (error as Error).message, internal().details)
}

export function reportError(error: unknown): ErrorReport {
  const failure = operatorFailure(error)
  return {
    sentence: error instanceof ConfigError ? error.message : failure.message,
    envelope: envelopeOf(failure, newRequestId()),
    exitCode: error instanceof Unsupported ? EXIT.usage : exitCodeFor(failure.code),
  }
}
