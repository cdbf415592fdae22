// An expression over named variables whose result becomes JSON, for mappings. Filters use program.ts as it is, which
// takes values by position and never throws.
import { CelError } from './errors.ts'
import { toJson, toJsonSteps, type ConvertBigInt } from './json.ts'
import { compile, ERROR, OVER_BUDGET, type Budget } from './program.ts'
import type { Value } from './values.ts'

export interface Expression {
  /**
   * Returns the value as JSON, or throws a CelError. A variable without a binding is an error only if the expression
   * reads it. `convertBigInt` converts whole numbers beyond 2^53; by default they become strings, as in CEL.
   */
  evaluate(bindings: Readonly<Record<string, unknown>>, convertBigInt?: ConvertBigInt, shared?: Budget): unknown
  /** Does the same, and yields while a large result becomes JSON. */
  evaluateSteps(bindings: Readonly<Record<string, unknown>>, convertBigInt?: ConvertBigInt): Generator<void, unknown>
}

/** Compiles an expression over these variables and no other names, or throws a CelSyntaxError. */
export function compileExpression(source: string, variables: readonly string[]): Expression {
  const program = compile(source, { variables })

  function resultOf(bindings: Readonly<Record<string, unknown>>, shared?: Budget): Value {
    const values = variables.map((name) => (Object.hasOwn(bindings, name) ? bindings[name] : undefined))
    const result = program.evaluate(values, shared)
    if (result === OVER_BUDGET) throw new CelError('the expression takes too much work', true)
    if (result === ERROR) throw new CelError(program.why())
    return result
  }

  return {
    evaluate: (bindings, convertBigInt, shared) => toJson(resultOf(bindings, shared), convertBigInt),
    *evaluateSteps(bindings, convertBigInt) {
      return yield* toJsonSteps(resultOf(bindings), convertBigInt)
    },
  }
}
