// Compiles calls of functions, and the macros over lists and maps.
import type { Node } from './ast.ts'
import {
  binaryCall,
  fold,
  keepPattern,
  parseClasses,
  reject,
  total,
  withVariable,
  type Build,
  type Code,
  type Scope,
} from './build.ts'
import { comprehensionRun } from './comprehension.ts'
import type { Definition, Fn } from './definition.ts'
import { FUNCTIONS } from './functions.ts'
import { patternCost } from './regex-cost.ts'
import { compilePattern, type Pattern } from './regex.ts'
import { fail, FAULT, Optional, typeWord, type Run, type Value } from './values.ts'

/** Functions that are evaluated once, when the argument is constant. None of them can make a large value. */
const FOLDED = new Set(['timestamp', 'duration', 'int', 'uint', 'double', 'bool', 'ip', 'cidr'])

export function callCode(build: Build, node: Node & { kind: 'call' }, scope: Scope): Code {
  const { definition, target } = definitionOf(build, node, scope)
  const given = (target === null ? node.args : [target, ...node.args]).map((arg) => build.code(arg, scope))
  if (node.name === 'orValue' || node.name === 'or') return alternativeCode(node.name, given as [Code, Code])
  const args = definition.variadic && given.length !== 1 ? [listOf(given)] : given
  const pattern = args[1]?.constant
  if (node.name === 'matches' && typeof pattern === 'string') {
    const at = node.args.at(-1)?.at ?? node.at
    parseClasses(build, at, patternCost(pattern).characters)
    const compiled = compilePattern(pattern)
    if (typeof compiled === 'string') return reject(build, at, compiled)
    keepPattern(build, at, compiled.bytes)
    return { run: matchesRun((args[0] as Code).run, compiled), steps: total(args) + 4 }
  }
  const run = callRun(definition.call, args)
  return FOLDED.has(node.name) && args.length === 1 ? fold(run, args) : { run, steps: total(args) + 4 }
}

/** One closure for each number of arguments. */
function callRun(fn: Fn, args: readonly Code[]): Run {
  const [a, b, d, e] = args.map(({ run }) => run) as [Run?, Run?, Run?, Run?]
  if (a === undefined) return (c) => fn(c, null, undefined, undefined, undefined)
  if (b === undefined) {
    return (c) => {
      const x = a(c)
      return x === FAULT ? FAULT : fn(c, x, undefined, undefined, undefined)
    }
  }
  if (d === undefined) return binaryCall(a, b, (c, x, y) => fn(c, x, y, undefined, undefined))
  return (c) => {
    const x = a(c)
    const y = x === FAULT ? FAULT : b(c)
    const z = y === FAULT ? FAULT : d(c)
    const w = z === FAULT || e === undefined ? undefined : e(c)
    if (x === FAULT || y === FAULT || z === FAULT || w === FAULT) return FAULT
    return fn(c, x, y, z, w)
  }
}

function listOf(codes: readonly Code[]): Code {
  const run: Run = (c) => {
    const made: Value[] = []
    for (let i = 0; i < codes.length; i++) {
      const value = (codes[i] as Code).run(c)
      if (value === FAULT) return FAULT
      made.push(value)
    }
    return made
  }
  return { run, steps: total(codes) }
}

/** `a.orValue(b)` and `a.or(b)`: `b` is not evaluated if `a` has a value. */
function alternativeCode(name: 'or' | 'orValue', [left, right]: [Code, Code]): Code {
  const run: Run = (c) => {
    const value = left.run(c)
    if (value === FAULT) return FAULT
    if (!(value instanceof Optional)) return fail(c, `${name}() needs an optional, not ${typeWord(value)}`)
    if (value.held !== undefined) return name === 'or' ? value : value.held
    const other = right.run(c)
    if (other === FAULT || name === 'orValue' || other instanceof Optional) return other
    return fail(c, `or() needs an optional, not ${typeWord(other)}`)
  }
  return { run, steps: total([left, right]) }
}

/** Returns the function and its target. `math.abs(x)` only looks like a method and has no target. */
function definitionOf(
  build: Build,
  node: Node & { kind: 'call' },
  scope: Scope,
): { definition: Definition; target: Node | null } {
  const { name, target, args, at } = node
  if (target?.kind === 'name' && !scope.indexes.has(target.name)) {
    const qualified = FUNCTIONS.get(`${target.name}.${name}`)
    if (qualified !== undefined) {
      checkCount(build, at, `${target.name}.${name}`, qualified, args.length, 0)
      return { definition: qualified, target: null }
    }
  }
  const definition = FUNCTIONS.get(name)
  if (definition === undefined) return reject(build, at, `unknown function '${name}'`)
  if (target !== null && !definition.asMethod) return reject(build, at, `${name}() is written ${name}(x)`)
  if (target === null && !definition.asFunction) return reject(build, at, `${name}() is written x.${name}(…)`)
  checkCount(build, at, name, definition, args.length, target === null ? 0 : 1)
  return { definition, target }
}

/** `hidden` is the number of arguments before the dot. */
function checkCount(build: Build, at: number, name: string, of: Definition, count: number, hidden: number): void {
  const [least, most] = [of.least - hidden, of.most - hidden]
  if (count >= least && count <= most) return
  const wanted = least === most ? String(least) : most === Infinity ? `at least ${least}` : `${least} or ${most}`
  reject(build, at, `${name}() takes ${wanted} argument${most === 1 ? '' : 's'}, not ${count}`)
}

function matchesRun(text: Run, pattern: Pattern): Run {
  return (c) => {
    const value = text(c)
    if (value === FAULT) return FAULT
    if (typeof value === 'string') return pattern.search(c, value)
    return fail(c, `matches() cannot be applied to ${typeWord(value)}`)
  }
}

export function comprehensionCode(build: Build, node: Node & { kind: 'comprehension' }, scope: Scope): Code {
  const range = build.code(node.range, scope)
  let [inner, first] = withVariable(build, scope, node.variable)
  let second: number | null = null
  if (node.second !== null) [inner, second] = withVariable(build, inner, node.second)
  const where = node.where === null ? null : build.code(node.where, inner)
  const into = node.into === null ? null : build.code(node.into, inner)
  const run = comprehensionRun({
    macro: node.macro,
    range: range.run,
    first,
    second,
    where: where?.run ?? null,
    into: into?.run ?? null,
    steps: 1 + (where?.steps ?? 0) + (into?.steps ?? 0),
  })
  return { run, steps: total([range]) }
}
