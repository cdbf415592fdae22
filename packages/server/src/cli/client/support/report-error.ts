// Errors of commands that call a service: it refused the request, or it cannot be reached.
import { ConnectionError, SensoriumError } from '@sensorium/client'
import { envelopeOf } from '../../../kernel/error-envelope.ts'
import { EXIT, exitCodeFor } from '../../exit-codes.ts'
import { newRequestId, reportUnexpected, type ErrorReport } from '../../error-report.ts'
import { cleanText } from '../../terminal/clean.ts'
import { CallFailed, type Called } from './call-failed.ts'
import { NoProfile } from './profiles.ts'
import { NotSignedIn } from './session.ts'

/** Says where the key came from; an empty text if it was just entered. */
const fromOf = (called: Called | undefined): string =>
  called?.profile === null ? ' in SENSORIUM_KEY' : called?.profile === undefined ? '' : ` of profile ${called.profile}`

/** The client renews its token by itself, so it is the key that was refused, whatever is said of the token. */
function refusedKey(called: Called | undefined): string {
  const at = called === undefined ? '' : ` at ${called.url}`
  const named = called?.profile ? ` --url ${called.url} --profile ${called.profile}` : ''
  const login = called?.profile === null ? '' : ` \`sensorium login${named}\` keeps another key.`
  return `The API key${fromOf(called)} is unknown${at}, revoked or expired, or its agent is inactive.${login}`
}

/** Whether the address of the service is wrong: it has no such path, or something else responded that has none. */
const isNowhere = ({ status, isOfService, details }: SensoriumError): boolean =>
  status === 404 && (details['resource_type'] === 'path' || (!isOfService && details['resource_id'] === undefined))

/** Returns the message, with a hint on what would help if the error has one. */
function sentenceOf(error: SensoriumError, called: Called | undefined): string {
  const { code, message, details } = error
  if (code === 'authentication_failed') return refusedKey(called)
  if (isNowhere(error) && called) {
    const path = typeof details['resource_id'] === 'string' ? `: ${details['resource_id']}` : ''
    return `${message}${path}. Asked at ${called.url}: is that the address of the service?`
  }
  const { expected, example } = details
  const existing = details['existing_resource_id'] ?? details['existing_interest_id']
  const parts = [
    typeof expected === 'string' && !message.includes(expected) ? `Expected: ${expected}` : null,
    example === null || example === undefined ? null : `Example: ${JSON.stringify(example)}`,
    typeof existing === 'string' ? `Existing: ${existing}` : null,
    isKey(error) && fromOf(called) !== '' ? `The key is the one${fromOf(called)}.` : null,
  ].filter((part) => part !== null)
  return [message, ...parts].join('\n')
}

/** A key of the wrong form is refused before it is looked for. To its owner it is a wrong key like any other. */
const isKey = ({ details }: SensoriumError): boolean => details['field'] === 'api_key'

/** What OpenSSL says of a response that is not TLS: its first bytes are taken for a version, or for a length. */
const NOT_TLS = ['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG']

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
  requestId = newRequestId(),
  details = {},
): ErrorReport => ({
  sentence: cleanText(message),
  envelope: envelopeOf({ code, message, details }, requestId),
  exitCode,
})

/** Returns what may help against a failed connection. */
const connectHint = (reason: string, called: Called | undefined): string =>
  called && NOT_TLS.includes(reason)
    ? `That port does not speak https: try ${called.url.replace(/^https:/, 'http:')}`
    : 'Is the service running there?'

export function reportError(given: unknown): ErrorReport {
  const [error, called] = given instanceof CallFailed ? [given.cause, given.called] : [given, undefined]
  if (error instanceof SensoriumError) {
    const { code, message, requestId, details } = error
    const exitCode = isKey(error) ? EXIT.refused : exitCodeFor(code)
    const plain = reportAs(code, message, exitCode, requestId ?? undefined, details)
    const named = error.status >= 500 && requestId ? `\nRequest ${requestId}` : ''
    return { ...plain, sentence: cleanText(`${sentenceOf(error, called)}${named}`) }
  }
  if (error instanceof ConnectionError) {
    const reason = reasonOf(error)
    const message = error.message.includes(`(${reason})`) ? error.message : `${error.message} (${reason})`
    return reportAs('service_unavailable', `${message}. ${connectHint(reason, called)}`, EXIT.unavailable)
  }
  if (error instanceof NotSignedIn) return reportAs('authentication_failed', `${error.message}.`, EXIT.refused)
  if (error instanceof NoProfile) return reportAs('not_found', `${error.message}.`, EXIT.notFound)
  return reportUnexpected(error)
}
