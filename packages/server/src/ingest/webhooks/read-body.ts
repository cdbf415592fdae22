// Reads the JSON of a webhook request whose signature was verified, in the forms that providers send. Pure.
import type { IncomingHttpHeaders } from 'node:http'
import { invalid, unsupportedMediaType } from '../../kernel/failure.ts'
import { mediaType } from '../../kernel/json.ts'
import { parseBody } from '../../kernel/json-steps.ts'
import { PRESETS } from './presets.ts'

const JSON_TYPE = 'application/json'
const FORM_TYPE = 'application/x-www-form-urlencoded'
const EXAMPLE = { entity: 'order', action: 'created', id: 'o-1' }

export interface Body {
  body: unknown
  /** The JSON as it came. */
  raw: Buffer
}

/** Reads the body. Throws the error for the sender, who has signed the request and so may see the details. */
export async function readBody(headers: IncomingHttpHeaders, sent: Buffer, preset: string | null): Promise<Body> {
  const contentType = headers['content-type']
  const type = mediaType(contentType)
  const field = preset === null ? null : (PRESETS[preset]?.formField ?? null)
  const supported = field === null ? [JSON_TYPE] : [JSON_TYPE, FORM_TYPE]
  if (!supported.includes(type)) throw unsupportedMediaType(contentType ?? '', supported)
  const raw = type === FORM_TYPE ? fieldOf(sent, field!) : sent
  // One level less, because the body becomes part of an envelope.
  const parsed = await parseBody(raw, { extraDepth: -1, exactNumbers: true })
  if (parsed.ok) return { body: parsed.value, raw }
  const value = raw.toString('utf8', 0, 1000)
  throw invalid({ field: 'body', value, expected: parsed.problem, example: EXAMPLE })
}

function fieldOf(sent: Buffer, name: string): Buffer {
  const value = new URLSearchParams(sent.toString('utf8')).get(name)
  if (value !== null) return Buffer.from(value)
  throw invalid({
    field: 'body',
    value: sent.toString('utf8', 0, 1000),
    expected: `a form with ${name}`,
    example: EXAMPLE,
  })
}
