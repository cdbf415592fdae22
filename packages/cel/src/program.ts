// A compiled expression and its evaluation, which is bounded in steps and never throws.
import type { Environment } from './build.ts'
import { generate } from './code.ts'
import { FAULT, STEP_BUDGET, type Context, type Result, type Run, type Value } from './values.ts'

/** The steps that evaluations may still take. Evaluations can share a budget; each reduces what is left. */
export interface Budget {
  left: number
}

/** Returned instead of a value if the expression failed; `Program.why` returns the message. */
export const ERROR: unique symbol = Symbol('error')
/** Returned instead of a value if the evaluation needed more steps than were left. */
export const OVER_BUDGET: unique symbol = Symbol('over budget')

export interface Program {
  /** Roughly how many bytes of memory it takes, for callers that cache many programs. */
  readonly bytes: number
  /** Roughly how much work it was to compile, in steps. */
  readonly compileSteps: number
  /**
   * Returns the value of the expression for these values of the variables. They are in the order of the environment;
   * undefined means that a variable has no value. One evaluation takes at most STEP_BUDGET steps, and no more than is
   * left of a shared budget.
   */
  evaluate(values: readonly unknown[], shared?: Budget): Value | typeof ERROR | typeof OVER_BUDGET
  /** Returns the message of the last evaluation that returned ERROR. */
  why(): string
}

/** The number of the last evaluation. It fits into an array of 32-bit integers. */
let lastRound = 0
const MAX_ROUND = 2 ** 31 - 1

/** Compiles an expression, or throws a CelSyntaxError. Evaluating it never throws. */
export function compile(source: string, environment: Environment): Program {
  return new CompiledProgram(source, environment)
}

/**
 * A class rather than a closure for each program: short filters took a fifth longer when calls could not be inlined.
 */
class CompiledProgram implements Program {
  readonly bytes: number
  readonly compileSteps: number
  readonly #run: Run
  readonly #steps: number
  readonly #count: number
  /** One for all evaluations: they are synchronous and do not nest. */
  readonly #context: Context

  constructor(source: string, environment: Environment) {
    const { run, steps, variableCount, bytes, compileSteps } = generate(source, environment)
    this.bytes = bytes
    this.compileSteps = compileSteps
    this.#run = run
    this.#steps = steps
    this.#count = environment.variables.length
    const vars = Array.from<undefined, Value | undefined>({ length: variableCount }, () => undefined)
    this.#context = { vars, fault: '', stepsLeft: 0, round: 0, pattern: null, zone: null }
  }

  evaluate(values: readonly unknown[], shared?: Budget): Value | typeof ERROR | typeof OVER_BUDGET {
    const c = this.#context
    const granted = shared === undefined || shared.left > STEP_BUDGET ? STEP_BUDGET : shared.left
    c.stepsLeft = granted - this.#steps
    c.round = lastRound = lastRound === MAX_ROUND ? 1 : lastRound + 1
    let result: Result = FAULT
    if (c.stepsLeft >= 0) {
      const { vars } = c
      for (let i = 0; i < this.#count; i++) vars[i] = values[i] as Value | undefined
      try {
        result = this.#run(c)
      } catch (error) {
        // Nothing is known to throw. If something does, one bad expression must not keep others from the event.
        c.fault = error instanceof Error ? error.message : String(error)
      }
      // A program lives for months and must not keep any part of an event alive.
      for (let i = 0; i < vars.length; i++) vars[i] = undefined
      c.pattern = null
      c.zone = null
    }
    const over = c.stepsLeft < 0
    // Work that could not be paid for was not done, so a shared budget ends at zero and not below.
    if (shared !== undefined) shared.left -= over ? granted : granted - c.stepsLeft
    if (over) return OVER_BUDGET
    return result === FAULT ? ERROR : result
  }

  why(): string {
    return this.#context.fault
  }
}
