import { toText } from '../kernel/json.ts'
import { compile, type Program } from './cel/compile.ts'
import { CelError } from './cel/errors.ts'
import { toJson } from './cel/json.ts'
import { FAULT, OVER_BUDGET, STEP_BUDGET, type Context, type Result, type Value } from './cel/values.ts'

export { CelError, FilterSyntaxError } from './cel/errors.ts'

/** An event envelope as it was parsed from JSON. */
export type Envelope = Readonly<Record<string, unknown>>

export type Outcome =
  | { readonly outcome: 'match' }
  /** The filter gave something else than `true`: `false`, or a value that is no boolean. */
  | { readonly outcome: 'no_match'; readonly value: unknown }
  /** The filter gave an error, such as `no such field: amount`. */
  | { readonly outcome: 'error'; readonly message: string }
  | { readonly outcome: 'over_budget' }

export interface Filter {
  readonly source: string
  /** Whether the event matches; null, which is no match either, where deciding it took too much work. */
  test(event: Envelope): boolean | null
  /** The same with reasons. */
  evaluate(event: Envelope): Outcome
}

export interface Expression {
  readonly source: string
  /** The value as JSON. A variable without a binding is an error only where the expression reads it. */
  evaluate(bindings: Readonly<Record<string, unknown>>): unknown
}

const FILTER_NAMES = { variables: ['event', 'data'], fallback: 'data' } as const

/** Compiles a CEL filter over events, or throws a FilterSyntaxError. */
export function compileFilter(source: string): Filter {
  const program = compile(source, FILTER_NAMES)
  const c = contextFor(program)
  const run = (event: Envelope): Result => {
    c.left = STEP_BUDGET - program.steps
    c.pattern = null
    c.vars[0] = event as Value
    c.vars[1] = event['data'] as Value | undefined
    const result = program.run(c)
    // Nothing of the event may stay behind in a filter that lives for months.
    for (let i = 0; i < c.vars.length; i++) c.vars[i] = undefined
    return result
  }
  return {
    source,
    test(event) {
      try {
        const result = run(event)
        return c.left < 0 ? null : result === true
      } catch {
        // Nothing above is known to throw; should it yet, one bad filter must not cost the others the event.
        return false
      }
    },
    evaluate(event) {
      try {
        const result = run(event)
        if (c.left < 0) return { outcome: 'over_budget' }
        if (result === FAULT) return { outcome: 'error', message: c.fault }
        return result === true ? { outcome: 'match' } : { outcome: 'no_match', value: toJson(result) }
      } catch (error) {
        return { outcome: 'error', message: error instanceof Error ? error.message : String(error) }
      }
    },
  }
}

/** Why an event matched a filter or not, as a sentence without its full stop. */
export function describeOutcome(outcome: Outcome): string {
  switch (outcome.outcome) {
    case 'match':
      return 'the filter is true'
    case 'no_match':
      return outcome.value === false ? 'the filter is false' : `the filter is not a boolean but ${cut(outcome.value)}`
    case 'error':
      return `the filter gives an error: ${outcome.message}`
    case 'over_budget':
      return OVER_BUDGET
  }
}

const LONGEST_SHOWN = 200

function cut(value: unknown): string {
  const text = toText(value)
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text
}

/**
 * Compiles a CEL expression over these variables, or throws a FilterSyntaxError. Evaluating it gives a JSON value or
 * throws a CelError.
 */
export function compileExpression(source: string, variables: readonly string[]): Expression {
  const program = compile(source, { variables, fallback: null })
  return {
    source,
    evaluate(bindings) {
      const c = contextFor(program)
      c.left = STEP_BUDGET - program.steps
      variables.forEach((name, index) => {
        c.vars[index] = Object.hasOwn(bindings, name) ? (bindings[name] as Value) : undefined
      })
      const result = program.run(c)
      if (c.left < 0) throw new CelError('the expression takes too much work', true)
      if (result === FAULT) throw new CelError(c.fault)
      return toJson(result)
    },
  }
}

function contextFor(program: Program): Context {
  return { vars: new Array<undefined>(program.places).fill(undefined), fault: '', left: 0, pattern: null }
}
