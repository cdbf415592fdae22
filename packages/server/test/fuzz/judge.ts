// What every response must be, whatever the request.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { ERRORS, type ErrorCode } from '@sensorium/contract'
import type { Asked } from './requests.ts'
import type { Schema } from './values.ts'
import type { WireReply } from './wire.ts'

export interface OpenApi {
  paths: Record<string, Record<string, OpenApiOperation>>
  components: { schemas: Record<string, Schema>; parameters: Record<string, { schema: Schema }> }
}

export interface OpenApiOperation {
  operationId: string
  security: Record<string, unknown>[]
  parameters: { name?: string; in?: string; required?: boolean; schema?: Schema; $ref?: string }[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, { description: string; content?: Record<string, { schema: Schema }> }>
}

/** Returns what is wrong with the response, or null. */
export type Judge = (asked: Asked, reply: WireReply | null) => string | null

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/

export function makeJudge(document: OpenApi): Judge {
  const ajv = new Ajv2020({ strict: false, validateSchema: false, allErrors: false })
  ajv.addFormat('date-time', { type: 'string', validate: (text: string) => DATE_TIME.test(text) })
  for (const name of ['uri', 'uri-reference']) ajv.addFormat(name, { type: 'string', validate: () => true })
  const compiled = new Map<Schema, ValidateFunction>()
  // References of the document are resolved from the root of the schema.
  const check = (schema: Schema): ValidateFunction => {
    let validate = compiled.get(schema)
    if (!validate) compiled.set(schema, (validate = ajv.compile({ ...schema, components: document.components })))
    return validate
  }
  const details = Object.fromEntries(
    Object.entries(ERRORS).map(([code, entry]) => [
      code,
      { keys: Object.keys(entry.details.properties), validate: ajv.compile(entry.details) },
    ]),
  )

  function judgeError(status: number, requestId: string, text: string): string | null {
    let body: {
      error?: { code?: ErrorCode; message?: unknown; request_id?: unknown; details?: Record<string, unknown> }
    }
    try {
      body = JSON.parse(text)
    } catch {
      return 'the error body is not JSON'
    }
    if (Object.keys(body).join() !== 'error' || typeof body.error !== 'object' || body.error === null)
      return 'the error body is not {error}'
    if (Object.keys(body.error).sort().join() !== 'code,details,message,request_id')
      return `error has the keys ${Object.keys(body.error)}`
    const { code, message, request_id, details: given } = body.error
    const known = details[code!]
    if (!known) return `${code} is not in the catalogue`
    if (ERRORS[code!].status !== status) return `${code} came with status ${status}`
    if (typeof message !== 'string' || message === '') return 'no message'
    if (request_id !== requestId) return `request_id ${request_id} is not the header's ${requestId}`
    const keys = Object.keys(given!)
    const missing = known.keys.filter((key) => !keys.includes(key))
    const extra = code === 'business_rule_violation' ? [] : keys.filter((key) => !known.keys.includes(key))
    if (missing.length + extra.length > 0) return `details of ${code}: missing ${missing}, extra ${extra}`
    if (!known.validate(given)) return `details of ${code}: ${ajv.errorsText(known.validate.errors)}`
    return null
  }

  return ({ operation, head }, reply) => {
    if (!reply) return 'no answer'
    const { status, headers, body } = reply
    const requestId = headers.get('x-request-id')
    if (!requestId) return 'no X-Request-Id'
    if (status >= 500) return `status ${status}: ${body.toString().slice(0, 200)}`
    if (status >= 400) {
      if (status === 429 && !headers.has('retry-after')) return 'no Retry-After'
      if (status === 405 && !headers.has('allow')) return 'no Allow'
      return head ? null : judgeError(status, requestId, body.toString())
    }
    if (status < 200 || status >= 300) return `status ${status}`
    // Only the head of a stream was read.
    if (reply.streaming) return null
    if (!operation || head) return null
    const documented = operation.responses[status]
    if (!documented) return `status ${status} is not documented`
    const schema = documented.content?.['application/json']?.schema
    if (!schema) return body.length === 0 || documented.content ? null : 'a body where none is documented'
    let value: unknown
    try {
      value = JSON.parse(body.toString())
    } catch {
      return 'the body is not JSON'
    }
    const validate = check(schema)
    return validate(value)
      ? null
      : `the body does not fit its schema: ${ajv.errorsText(validate.errors)}: ${body.toString().slice(0, 300)}`
  }
}
