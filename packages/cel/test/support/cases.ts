// Tables of expressions and their values.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CelError, compileExpression } from '../../src/index.ts'

/** An expected error stands for an error with these words in its message. */
export const error = (words: string): Error => new Error(words)

type Groups = Readonly<Record<string, readonly [source: string, expected: unknown][]>>

/** A test for each expression, over a variable `x`. */
export function testCases(rule: string, x: object, groups: Groups): void {
  for (const [name, cases] of Object.entries(groups)) {
    for (const [source, expected] of cases) {
      test(`${rule} ${name}: ${source.replaceAll('\n', '␤')}`, () => {
        const expression = compileExpression(source, ['x'])
        if (expected instanceof Error) {
          assert.throws(
            () => expression.evaluate({ x }),
            (thrown) => thrown instanceof CelError && thrown.message.includes(expected.message),
          )
        } else {
          assert.deepEqual(expression.evaluate({ x }), expected)
        }
      })
    }
  }
}
