// The builders of wire schemas: each returns JSON Schema 2020-12 that TypeScript knows the type of. They are our own
// because loading a library for them took 130 ms of the 850 that a start or a command needs.

declare const TYPE: unique symbol
const OPTIONAL = Symbol('optional')

/** A JSON Schema whose valid values have type `T`. The type exists for the compiler only. */
export interface Schema<T = unknown> {
  readonly [TYPE]?: T
  $id?: string
  description?: string
  examples?: unknown[]
  // biome-ignore lint/suspicious/noExplicitAny: a schema is data; who reads a keyword knows its type
  [keyword: string]: any
}

export interface ObjectSchema<P extends Properties> extends Schema<ValuesOf<P>> {
  properties: P
  required?: string[]
}

export type OptionalSchema<S extends Schema> = S & { readonly [OPTIONAL]: true }

type Properties = Readonly<Record<string, Schema>>

type OptionalKeys<P> = { [K in keyof P]: P[K] extends { readonly [OPTIONAL]: true } ? K : never }[keyof P]

type ValuesOf<P extends Properties> = Flat<
  { [K in Exclude<keyof P, OptionalKeys<P>>]: Static<P[K]> } & { [K in OptionalKeys<P>]?: Static<P[K]> }
>

// The members one by one, so that an editor shows them instead of the expression they come from.
type Flat<T> = { [K in keyof T]: T[K] }

/** The type of the values that a schema accepts. */
export type Static<S extends Schema> = S extends Schema<infer T> ? T : never

/** Keywords beside those that the builder sets. */
export type Keywords = Omit<Schema, typeof TYPE>

const schema = <T>(keywords: Keywords): Schema<T> => keywords

function object<P extends Properties>(properties: P, keywords: Keywords = {}): ObjectSchema<P> {
  const required = Object.keys(properties).filter((name) => !(OPTIONAL in properties[name]!))
  return { ...keywords, type: 'object', ...(required.length > 0 ? { required } : {}), properties }
}

export const Type = {
  String: (keywords: Keywords = {}) => schema<string>({ ...keywords, type: 'string' }),
  Number: (keywords: Keywords = {}) => schema<number>({ ...keywords, type: 'number' }),
  Integer: (keywords: Keywords = {}) => schema<number>({ ...keywords, type: 'integer' }),
  Boolean: (keywords: Keywords = {}) => schema<boolean>({ ...keywords, type: 'boolean' }),
  /** Any value. */
  Unknown: (keywords: Keywords = {}) => schema<unknown>({ ...keywords }),
  Literal: <const T extends string>(value: T) => schema<T>({ const: value, type: 'string' }),
  Array: <S extends Schema>(items: S, keywords: Keywords = {}) =>
    schema<Static<S>[]>({ ...keywords, type: 'array', items }),
  /** An object with any keys, whose values have one schema. */
  Record: <S extends Schema>(values: S, keywords: Keywords = {}) =>
    schema<Record<string, Static<S>>>({ ...keywords, type: 'object', patternProperties: { '^(.*)$': values } }),
  /** A reference to the schema with this `$id`. */
  Ref: (id: string) => schema<unknown>({ $ref: id }),
  /** A schema written out, whose type the compiler is told. */
  Unsafe: <T>(keywords: Keywords) => schema<T>({ ...keywords }),
  /** Marks a property that may be left out of its object. */
  Optional: <S extends Schema>(of: S): OptionalSchema<S> => ({ ...of, [OPTIONAL]: true }),
  Object: object,
  /** The same object, with every property optional. */
  Partial: <P extends Properties>(of: ObjectSchema<P>, keywords: Keywords = {}) => {
    const { properties, required: _, ...rest } = of
    const optional = Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, Type.Optional(value)]))
    return object(optional as { [K in keyof P]: OptionalSchema<P[K]> }, { ...rest, ...keywords })
  },
}
