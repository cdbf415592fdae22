// Errors of commands that call a service: it refused the request, or it cannot be reached.
import { ConnectionError, SensoriumError } from '@sensorium/client'
import { EXIT, exitCodeFor } from '../exit-codes.ts'
import { newRequestId, reportUnexpected, type ErrorReport } from '../fail.ts'
import { cleanText } from '../terminal/clean.ts'
import { NoProfile } from './profiles.ts'
import { NotSignedIn } from './session.ts'

/** The client renews its token by itself, so it is the key that was refused, whatever is said of the token. */
const REFUSED_KEY =
  'The API key is unknown, revoked or expired, or its agent is inactive. `sensorium login` keeps another key.'

/** Returns the message, with a hint on what would help if the error has one. */
function sentenceOf({ code, message, details }: SensoriumError): string {
  if (code === 'authentication_failed') return REFUSED_KEY
  const { expected, example } = details
  const existing = details['existing_resource_id'] ?? details['existing_interest_id']
  const parts = [
    typeof expected === 'string' && !message.includes(expected) ? `Expected: ${expected}` : null,
    example === null || example === undefined ? null : `Example: ${JSON.stringify(example)}`,
    typeof existing === 'string' ? `Existing: ${existing}` : null,
  ].filter((part) => part !== null)
  return [message, ...parts].join('\n')
}

/** Returns the innermost cause of an error, which says more than "fetch failed". */
function reasonOf(error: unknown): string {
  const cause = (error as { cause?: unknown }).cause
  if (cause instanceof Error) return reasonOf(cause)
  const { code, message } = error as NodeJS.ErrnoException
  return code ?? message
}

const reportAs = (
  code: string,
  message: string,
  exitCode: number,
  request_id = newRequestId(),
  details = {},
): ErrorReport => ({
  sentence: cleanText(message),
  envelope: { error: { code, message, request_id, details } },
  exitCode,
})

export function reportError(error: unknown): ErrorReport {
  if (error instanceof SensoriumError) {
    const { code, message, requestId, details } = error
    // A key of the wrong form is refused before it is looked for. To its owner it is a wrong key like any other.
    const exitCode = details['field'] === 'api_key' ? EXIT.refused : exitCodeFor(code)
    const plain = reportAs(code, message, exitCode, requestId ?? undefined, details)
    const named = error.status >= 500 && requestId ? `\nRequest ${requestId}` : ''
    return { ...plain, sentence: cleanText(`${sentenceOf(error)}${named}`) }
  }
  if (error instanceof ConnectionError) {
    const reason = `(${reasonOf(error)})`
    const message = error.message.includes(reason) ? error.message : `${error.message} ${reason}`
    return reportAs('service_unavailable', `${message}. Is the service running there?`, EXIT.unavailable)
  }
  if (error instanceof NotSignedIn) return reportAs('authentication_failed', `${error.message}.`, EXIT.refused)
  if (error instanceof NoProfile) return reportAs('not_found', `${error.message}.`, EXIT.notFound)
  return reportUnexpected(error)
}
