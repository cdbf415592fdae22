import type { Node } from './ast.ts'
import { CelSyntaxError } from './errors.ts'
import { FAULT, STEP_BUDGET, type Context, type Result, type Run, type Value } from './values.ts'

/** What an expression may name. */
export interface Environment {
  /** The variables, in the order in which an evaluation is given their values. */
  readonly variables: readonly string[]
  /** The variable in whose fields any other name is looked up; without it, any other name is an error. */
  readonly fallback?: string | null
}

/** A node compiled to a closure. */
export interface Code {
  readonly run: Run
  /** What running it once costs, apart from what its functions pay by the size of their arguments. */
  readonly steps: number
  /** The value, where it does not depend on the evaluation. */
  readonly constant?: Value
}

/** Which place in `Context.vars` each name has. */
export interface Scope {
  readonly places: ReadonlyMap<string, number>
  readonly depth: number
}

/** One compilation: what every part of the tree needs to know, and what all of them add up to. */
export interface Build {
  readonly source: string
  readonly environment: Environment
  /** The variables of the environment. */
  readonly roots: ReadonlyMap<string, number>
  /** The place of the variable that other names are looked up in. */
  readonly fallback: number | undefined
  /** Places that `Context.vars` needs. */
  places: number
  /** Bytes that regular expressions keep, beside the closures. */
  patternBytes: number
  /** Compiles any node; here, so that the files of the compiler need not import each other in a circle. */
  code(node: Node, scope: Scope): Code
}

/** What all regular expressions of one expression may keep together. An ordinary one counts 40 kB. */
const MAX_PATTERN_BYTES = 1024 * 1024

/** Counts what a regular expression keeps, and refuses it where that is too much. */
export function keepPattern(build: Build, at: number, bytes: number): void {
  build.patternBytes += bytes
  if (build.patternBytes > MAX_PATTERN_BYTES) reject(build, at, 'regular expressions too large together')
}

export function reject(build: Build, at: number, reason: string): never {
  throw new CelSyntaxError(build.source, at, reason)
}

/** The steps of a node with these parts: one for itself, and theirs. */
export function total(parts: readonly Code[]): number {
  return parts.reduce((sum, { steps }) => sum + steps, 1)
}

export function constant(value: Value): Code {
  return { run: () => value, steps: 1, constant: value }
}

/** Runs it now, where it depends on nothing and does not fail. */
export function fold(run: Run, parts: readonly Code[]): Code {
  if (parts.every((part) => part.constant !== undefined)) {
    const value = run({ vars: [], fault: '', left: STEP_BUDGET, round: 0, pattern: null, zone: null })
    if (value !== FAULT) return constant(value)
  }
  return { run, steps: total(parts) + 4 }
}

/** The scope inside of which a name has a place of its own, and that place. */
export function withVariable(build: Build, scope: Scope, name: string): [inner: Scope, slot: number] {
  const slot = build.roots.size + scope.depth
  build.places = Math.max(build.places, slot + 1)
  return [{ places: new Map(scope.places).set(name, slot), depth: scope.depth + 1 }, slot]
}

export function binaryCall(left: Run, right: Run, fn: (c: Context, a: Value, b: Value) => Result): Run {
  return (c) => {
    const a = left(c)
    if (a === FAULT) return FAULT
    const b = right(c)
    return b === FAULT ? FAULT : fn(c, a, b)
  }
}
