// An error as this command line tells it: a sentence for a person, the envelope of the HTTP door for a program.
import { randomBytes } from 'node:crypto'
import { ConfigError } from '../config.ts'
import { Failure, internal, invalid, ruleBroken, unavailable } from '../kernel/failure.ts'
import { StoreUnavailable } from '../store/db.ts'
import { Unsupported } from './command.ts'

export interface Told {
  sentence: string
  envelope: { error: { code: string; message: string; request_id: string; details: Record<string, unknown> } }
  exitCode: number
}

function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error
  if (error instanceof ConfigError)
    return invalid({ field: 'environment', value: null, expected: error.problems.join('; '), example: null })
  if (error instanceof StoreUnavailable) return unavailable(`${error.sentence}: ${error.message}`)
  if (error instanceof Unsupported) return ruleBroken('unsupported_store', error.message, { instead: error.instead })
  // Whoever runs the command is the operator: unlike a caller of the service they may read what went wrong.
  return new Failure('internal_error', (error as Error).message, internal().details)
}

export function told(error: unknown): Told {
  const { code, message, details } = asFailure(error)
  return {
    sentence: error instanceof ConfigError ? error.message : message,
    envelope: { error: { code, message, request_id: `req_${randomBytes(10).toString('hex')}`, details } },
    // 2: nothing failed, it is for another tool to do.
    exitCode: error instanceof Unsupported ? 2 : 1,
  }
}
