// What the files of the compiler share: the state of a compilation, the closures it makes, and their cost in steps.
import type { Node } from './ast.ts'
import { CelSyntaxError } from './errors.ts'
import { FAULT, STEP_BUDGET, type Context, type Result, type Run, type Value } from './values.ts'

/** The names that an expression may use. */
export interface Environment {
  /** The variables, in the order of their values in an evaluation. */
  readonly variables: readonly string[]
  /** The variable in whose fields all other names are looked up. Without it, any other name is an error. */
  readonly fallback?: string | null
}

/** A node compiled to a closure. */
export interface Code {
  readonly run: Run
  /** The cost of running it once, apart from what its functions pay by the size of their arguments. */
  readonly steps: number
  /** The value, if it is constant. */
  readonly constant?: Value
}

/** The index of each name in `Context.vars`. */
export interface Scope {
  readonly indexes: ReadonlyMap<string, number>
  readonly depth: number
}

/** The state of one compilation: what every node of the tree needs, and the totals over all nodes. */
export interface Build {
  readonly source: string
  readonly environment: Environment
  /** The variables of the environment. */
  readonly roots: ReadonlyMap<string, number>
  /** The index of the variable in whose fields other names are looked up. */
  readonly fallback: number | undefined
  /** Variables that `Context.vars` has room for. */
  variableCount: number
  /** Bytes of regular expressions, besides the closures. */
  patternBytes: number
  /** Characters of classes in regular expressions. */
  classCharacters: number
  /** Compiles any node. It is here so that the files of the compiler do not import each other in a circle. */
  code(node: Node, scope: Scope): Code
}

/** The most memory of all regular expressions of one expression. An ordinary one counts 40 kB. */
const MAX_PATTERN_BYTES = 1024 * 1024

/** The most characters of all classes of one expression: about 12 ms, or two ranges over all letters with `(?i)`. */
const MAX_CLASS_CHARACTERS = 260_000

/**
 * Adds what parsing the classes of a regular expression costs, and rejects it before that if the total is too large.
 */
export function parseClasses(build: Build, at: number, characters: number): void {
  build.classCharacters += characters
  if (build.classCharacters > MAX_CLASS_CHARACTERS)
    reject(build, at, 'classes of regular expressions too large together')
}

/** Adds the memory of a regular expression, and rejects it if the total is too large. */
export function keepPattern(build: Build, at: number, bytes: number): void {
  build.patternBytes += bytes
  if (build.patternBytes > MAX_PATTERN_BYTES) reject(build, at, 'regular expressions too large together')
}

export function reject(build: Build, at: number, reason: string): never {
  throw new CelSyntaxError(build.source, at, reason)
}

/** Returns the steps of a node with these parts: one for the node, and those of its parts. */
export function total(parts: readonly Code[]): number {
  return parts.reduce((sum, { steps }) => sum + steps, 1)
}

export function constant(value: Value): Code {
  return { run: () => value, steps: 1, constant: value }
}

/** Evaluates it at compile time, if all parts are constant and it does not fail. */
export function fold(run: Run, parts: readonly Code[]): Code {
  if (parts.every((part) => part.constant !== undefined)) {
    const value = run({ vars: [], fault: '', stepsLeft: STEP_BUDGET, round: 0, pattern: null, zone: null })
    if (value !== FAULT) return constant(value)
  }
  return { run, steps: total(parts) + 4 }
}

/** Returns an inner scope in which a name has its own index, and that index. */
export function withVariable(build: Build, scope: Scope, name: string): [inner: Scope, index: number] {
  const index = build.roots.size + scope.depth
  build.variableCount = Math.max(build.variableCount, index + 1)
  return [{ indexes: new Map(scope.indexes).set(name, index), depth: scope.depth + 1 }, index]
}

export function binaryCall(left: Run, right: Run, fn: (c: Context, a: Value, b: Value) => Result): Run {
  return (c) => {
    const a = left(c)
    if (a === FAULT) return FAULT
    const b = right(c)
    return b === FAULT ? FAULT : fn(c, a, b)
  }
}
