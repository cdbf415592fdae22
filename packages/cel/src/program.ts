import type { Environment } from './build.ts'
import { generate } from './code.ts'
import { FAULT, STEP_BUDGET, type Context, type Result, type Value } from './values.ts'

/** Steps that evaluations may still take. Several can share one: what each takes is no longer there for the next. */
export interface Budget {
  left: number
}

/** Stands for a value where the expression gave an error; `Program.why` has the words. */
export const ERROR: unique symbol = Symbol('error')
/** Stands for a value where finding it took more steps than there were. */
export const OVER_BUDGET: unique symbol = Symbol('over budget')

export interface Program {
  readonly source: string
  /** Roughly how many bytes of memory it keeps, for whoever keeps many. */
  readonly bytes: number
  /**
   * The value for these values of the variables, which are in the order of the environment; undefined for one that
   * has none. One evaluation takes at most STEP_BUDGET steps, and of a shared budget no more than is left there.
   */
  evaluate(values: readonly unknown[], shared?: Budget): Value | typeof ERROR | typeof OVER_BUDGET
  /** What went wrong in the last evaluation that gave ERROR. */
  why(): string
}

/** The number of the last evaluation, small enough for an array of 32 bits. */
let lastRound = 0
const MAX_ROUND = 2 ** 31 - 1

/** Compiles an expression, or throws a CelSyntaxError. Evaluating it never throws. */
export function compile(source: string, environment: Environment): Program {
  const { run, steps, places, bytes } = generate(source, environment)
  const count = environment.variables.length
  // One context for all evaluations: they are synchronous and do not nest.
  const vars = new Array<Value | undefined>(places).fill(undefined)
  const c: Context = { vars, fault: '', left: 0, round: 0, pattern: null, zone: null }

  return {
    source,
    bytes,
    evaluate(values, shared) {
      const granted = shared === undefined || shared.left > STEP_BUDGET ? STEP_BUDGET : shared.left
      c.left = granted - steps
      c.pattern = null
      c.zone = null
      c.round = lastRound = lastRound === MAX_ROUND ? 1 : lastRound + 1
      let result: Result = FAULT
      if (c.left >= 0) {
        for (let i = 0; i < count; i++) vars[i] = values[i] as Value | undefined
        try {
          result = run(c)
        } catch (error) {
          // Nothing is known to throw; should it yet, one bad expression must not cost the others the event.
          c.fault = error instanceof Error ? error.message : String(error)
        }
        // Nothing of an event may stay behind in a program that lives for months.
        for (let i = 0; i < places; i++) vars[i] = undefined
      }
      const over = c.left < 0
      // What was asked for and refused was not done, so a shared budget ends at zero and not below.
      if (shared !== undefined) shared.left -= over ? granted : granted - c.left
      if (over) return OVER_BUDGET
      return result === FAULT ? ERROR : result
    },
    why: () => c.fault,
  }
}
