// `base64.*`.
import { functionOf, type Definitions } from './definition.ts'
import { mistyped } from './strings.ts'
import { fail, overBudget, spendChars, type Context, type Result, type Value } from './values.ts'

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

function encode(c: Context, value: Value): Result {
  if (!(value instanceof Uint8Array)) return mistyped(c, 'base64.encode', value)
  return spendChars(c, value.length * 2) ? overBudget(c) : Buffer.from(value).toString('base64')
}

/** The padding may be left out. */
function decode(c: Context, value: Value): Result {
  if (typeof value !== 'string') return mistyped(c, 'base64.decode', value)
  if (spendChars(c, value.length * 2)) return overBudget(c)
  const bare = value.endsWith('=') ? value.slice(0, value.indexOf('=')) : value
  const padded = value.length !== bare.length
  if (!BASE64.test(value) || bare.length % 4 === 1 || (padded && value.length % 4 !== 0)) {
    return fail(c, 'the string is not base64')
  }
  return new Uint8Array(Buffer.from(bare, 'base64'))
}

export const ENCODER_FUNCTIONS: Definitions = [
  ['base64.encode', functionOf(encode, 1)],
  ['base64.decode', functionOf(decode, 1)],
]
