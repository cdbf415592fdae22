// The small shapes that all wire schemas are made of. A schema is JSON Schema 2020-12 (so OpenAPI 3.1 takes it as it
// is) and a TypeScript type at once. Two annotations feed the error messages: `expected` (the sentence of
// validation_failed where the schema alone would say it badly) and `examples[0]` (a value that passes).
//
// Nullable is a type union (`['string', 'null']`), never `anyOf`: a failed validation then names one field and one
// reason.
import { Type, type Static, type TSchema, type SchemaOptions } from '@sinclair/typebox'

export { Type }
export type { Static, TSchema }

export interface Notes extends SchemaOptions {
  expected?: string
}

// NUL cannot be stored in a PostgreSQL text, so no text field takes it; both stores refuse the same.
const NO_NUL = '^[^\\u0000]*$'

export const text = (maxLength: number, notes: Notes = {}) => Type.String({ maxLength, pattern: NO_NUL, ...notes })

/** Text that says something: white space alone counts as empty. Lengths are Unicode code points.
 * A format and not a pattern: the regular expression for it takes quadratic time on a hostile text. */
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

/** 0..1: confidence, importance, strength. */
export const fraction = (notes: Notes = {}) => Type.Number({ minimum: 0, maximum: 1, examples: [0.8], ...notes })

export const jsonObject = (notes: Notes = {}) =>
  Type.Unsafe<Record<string, unknown>>({ type: 'object', examples: [{ key: 'value' }], ...notes })

export const id = (prefix: string, notes: Notes = {}) =>
  Type.String({ examples: [`${prefix}_01hv3k8z9q4m7t2x5c6w8r0s1d`], ...notes })

/** The name that a thing has in somebody else's system. */
export const externalId = (description = 'The id in a system of yours: one thing of its kind in the tenant has it.') =>
  filledText(255, { examples: ['crm-4711'], description })

/** A pattern over event types, in a query. */
export const eventTypeGlob = () =>
  text(1024, {
    minLength: 1,
    examples: ['com.example.*'],
    expected: 'a pattern of 1 to 1024 characters',
    description: 'A pattern over event types, as in an interest: `*`, `?`, `[a-z]`.',
  })

/** `offset` and `limit` as every list takes them. */
export const page = {
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0, examples: [0] })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50, examples: [50] })),
}

/** A limit that is clamped at the top instead of refused. */
export const clampedLimit = (maximum: number, fallback: number) =>
  Type.Optional(
    Type.Integer({
      minimum: 1,
      default: fallback,
      examples: [fallback],
      description: `More than ${maximum} is taken as ${maximum}.`,
      expected: `an integer from 1 to ${maximum}`,
    }),
  )
