// The small shapes that all wire schemas are made of. A schema is both JSON Schema 2020-12 (so OpenAPI 3.1 uses it
// unchanged) and a TypeScript type. Two annotations feed the error messages: `expected` (the sentence of
// validation_failed, where one generated from the schema would be unclear) and `examples[0]` (a value that passes).
//
// Nullable is a type union (`['string', 'null']`), never `anyOf`: a failed validation then names one field and one
// reason.
import { Type, type Keywords, type Schema, type Static } from './schema.ts'

export { Type }
export type { Schema, Static }

export interface Notes extends Keywords {
  expected?: string
}

// PostgreSQL cannot store NUL in a text, so no text field accepts it; both stores refuse the same values.
const NO_NUL = '^[^\\u0000]*$'

export const text = (maxLength: number, notes: Notes = {}) => Type.String({ maxLength, pattern: NO_NUL, ...notes })

/** Schema of a non-empty text; white space alone counts as empty. Lengths are Unicode code points.
 * A format, not a pattern: the regular expression for it takes quadratic time on a hostile text. */
export const filledText = (maxLength: number, notes: Notes = {}) =>
  Type.String({
    minLength: 1,
    maxLength,
    format: 'filled-text',
    expected: `a non-empty string of at most ${maxLength} characters`,
    examples: ['Example'],
    ...notes,
  })

export const nullableText = (maxLength: number, notes: Notes = {}) =>
  Type.Unsafe<string | null>({
    type: ['string', 'null'],
    maxLength,
    pattern: NO_NUL,
    expected: `a string of at most ${maxLength} characters, or null`,
    examples: ['Example'],
    ...notes,
  })

export const oneOf = <const T extends readonly string[]>(values: T, notes: Notes = {}) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: [...values], examples: [values[0]], ...notes })

export const dateTime = (notes: Notes = {}) =>
  Type.String({
    format: 'date-time',
    examples: ['2030-01-31T12:00:00Z'],
    expected: 'an ISO 8601 date-time with a time zone',
    ...notes,
  })

export const nullableDateTime = (notes: Notes = {}) =>
  Type.Unsafe<string | null>({
    type: ['string', 'null'],
    format: 'date-time',
    examples: ['2030-01-31T12:00:00Z'],
    expected: 'an ISO 8601 date-time with a time zone, or null',
    ...notes,
  })

export const nullableUri = (notes: Notes = {}) =>
  Type.Unsafe<string | null>({
    type: ['string', 'null'],
    format: 'uri',
    maxLength: 2048,
    expected: 'an absolute URI of at most 2048 characters, or null',
    examples: ['https://example.com/a'],
    ...notes,
  })

/** Schema of a number from 0 to 1: confidence, importance, strength. */
export const fraction = (notes: Notes = {}) => Type.Number({ minimum: 0, maximum: 1, examples: [0.8], ...notes })

export const jsonObject = (notes: Notes = {}) =>
  Type.Unsafe<Record<string, unknown>>({ type: 'object', examples: [{ key: 'value' }], ...notes })

export const id = (prefix: string, notes: Notes = {}) =>
  Type.String({ examples: [`${prefix}_01hv3k8z9q4m7t2x5c6w8r0s1d`], ...notes })

/** Schema of the id that a thing has in another system. */
export const externalId = (
  description = 'The id in another system of yours, unique among resources of the same kind in the tenant.',
) => filledText(255, { examples: ['crm-4711'], description })

/** A pattern over event types, in a query. */
export const eventTypeGlob = () =>
  text(1024, {
    minLength: 1,
    examples: ['com.example.*'],
    expected: 'a pattern of 1 to 1024 characters',
    description: 'A pattern over event types, as in an interest: `*`, `?`, `[a-z]`.',
  })

/** The parameters `offset` and `limit` of every list. */
export const page = {
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0, examples: [0] })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50, examples: [50] })),
}

/** Schema of a limit that is clamped to the maximum instead of being refused. */
export const clampedLimit = (maximum: number, fallback: number) =>
  Type.Optional(
    Type.Integer({
      minimum: 1,
      default: fallback,
      examples: [fallback],
      description: `Values above ${maximum} are treated as ${maximum}.`,
      expected: `an integer from 1 to ${maximum}`,
    }),
  )
