// Reads the JSON of a webhook request whose signature was verified, in the forms that providers send. Pure.
import { invalid, unsupportedMediaType } from '../../kernel/failure.ts'
import { mediaType } from '../../kernel/media-type.ts'
import { parseBody } from '../../kernel/json-steps.ts'
import { inSteps, nextTurn } from '../../kernel/step-turns.ts'
import { PRESETS } from './presets.ts'
import type { SentHeaders } from './signature.ts'

const JSON_TYPE = 'application/json'
const FORM_TYPE = 'application/x-www-form-urlencoded'
/** Bytes of a form that are decoded in one step. */
const STEP_BYTES = 16_384
const PLUS = 0x2b
const SPACE = 0x20
const PERCENT = 0x25
const EXAMPLE = { entity: 'order', action: 'created', id: 'o-1' }

interface Body {
  body: unknown
  /** The JSON as it came. */
  raw: Buffer
}

/** Reads the body. Throws the error for the sender, who has signed the request and so may see the details. */
export async function readBody(headers: SentHeaders, sent: Buffer, preset: string | null): Promise<Body> {
  const contentType = headers['content-type']
  const type = mediaType(contentType)
  const field = preset === null ? null : (PRESETS[preset]?.formField ?? null)
  const supported = field === null ? [JSON_TYPE] : [JSON_TYPE, FORM_TYPE]
  if (!supported.includes(type)) throw unsupportedMediaType(contentType ?? '', supported)
  const raw = type === FORM_TYPE ? await fieldOf(sent, field!) : sent
  // One level less, because the body becomes part of an envelope.
  const parsed = await parseBody(raw, { extraDepth: -1, exactNumbers: true })
  if (parsed.ok) return { body: parsed.value, raw }
  const value = raw.toString('utf8', 0, 1000)
  throw invalid({ field: 'body', value, expected: parsed.problem, example: EXAMPLE })
}

// Only the wanted field is looked at. URLSearchParams reads all fields in one step, which took 12 s of CPU for a
// megabyte of `a&`.
async function fieldOf(sent: Buffer, name: string): Promise<Buffer> {
  const start = `${name}=`
  const isFirst = sent.toString('latin1', 0, start.length) === start
  const before = isFirst ? 0 : sent.indexOf(`&${start}`) + 1
  if (isFirst || before > 0) {
    const from = before + start.length
    const end = sent.indexOf('&', from)
    return inSteps(decodeForm(sent.subarray(from, end < 0 ? sent.length : end)), nextTurn)
  }
  throw invalid({
    field: 'body',
    value: sent.toString('utf8', 0, 1000),
    expected: `a form with ${name}`,
    example: EXAMPLE,
  })
}

/** Decodes the value of a field. A `%` that begins no escape stands for itself. Yields after each step. */
function* decodeForm(value: Buffer): Generator<void, Buffer> {
  const decoded = Buffer.allocUnsafe(value.length)
  let length = 0
  let stepEnds = STEP_BYTES
  for (let at = 0; at < value.length; at++) {
    if (at >= stepEnds) {
      yield
      stepEnds = at + STEP_BYTES
    }
    const byte = value[at]!
    const escaped = byte === PERCENT ? hexDigit(value[at + 1]) * 16 + hexDigit(value[at + 2]) : NaN
    if (escaped >= 0) at += 2
    decoded[length++] = escaped >= 0 ? escaped : byte === PLUS ? SPACE : byte
  }
  return decoded.subarray(0, length)
}

function hexDigit(byte: number | undefined): number {
  if (byte === undefined) return NaN
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const lower = byte | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : NaN
}
