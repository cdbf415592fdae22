// A refusal as the bytes on the wire, for input that never became a request to which Node would write a response.
import { randomBytes } from 'node:crypto'
import { envelopeOf } from '../kernel/error-envelope.ts'
import type { Failure } from '../kernel/failure.ts'
import { http } from '../kernel/node-http.ts'
import { JSON_TYPE } from './exchange.ts'

export function rawRefusal(failure: Failure): string {
  const { status, headers } = failure
  const id = `req_${randomBytes(10).toString('hex')}`
  const body = JSON.stringify(envelopeOf(failure, id))
  const extra = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return (
    `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\nX-Request-Id: ${id}\r\nX-Content-Type-Options: nosniff\r\n` +
    `Cache-Control: no-store\r\nContent-Type: ${JSON_TYPE}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
    `${extra.join('')}Connection: close\r\n\r\n${body}`
  )
}
