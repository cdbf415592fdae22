// Errors give an example of a valid value. Every example in the schemas of the contract must be valid.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_CLIENT_TYPES, operations, type Operation, type Schema } from '@sensorium/contract'
import { describe, exampleOf, makeCompileCheck, type Check } from '../../src/operations/validate.ts'

interface Shape {
  type?: string | string[]
  properties?: Record<string, Shape>
  items?: Shape
}

// A new compiler for each, because it accepts each schema name only once.
const check = (schema: Shape): Check => makeCompileCheck([...DEFAULT_CLIENT_TYPES, 'other'])(schema as Schema)

/** The schema and every schema inside it, with its path. */
function* inside(schema: Shape, path: string): Generator<[string, Shape]> {
  yield [path, schema]
  for (const [name, property] of Object.entries(schema.properties ?? {})) yield* inside(property, `${path}.${name}`)
  if (schema.items) yield* inside(schema.items, `${path}[]`)
}

for (const operation of Object.values(operations) as Operation[]) {
  for (const [part, schema] of [
    ['body', operation.body],
    ['query', operation.query],
  ] as const) {
    if (!schema) continue
    test(`[HTTP-19] ${operation.id}: every example of the ${part} passes, and is described in words`, () => {
      for (const [path, shape] of inside(schema as Shape, part)) {
        const example = exampleOf(shape)
        assert.equal(check(shape)(example), null, `${path}: ${JSON.stringify(example)}`)
        const words = describe(shape)
        assert.match(words, /\w+/, path)
        assert.doesNotMatch(words, /undefined|NaN|\[object/, path)
      }
    })
  }
}
