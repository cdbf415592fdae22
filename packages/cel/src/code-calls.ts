import type { Node } from './ast.ts'
import { binaryCall, fold, keepPattern, reject, total, type Build, type Code, type Scope } from './build.ts'
import { comprehensionRun } from './comprehension.ts'
import { FUNCTIONS, type Definition } from './functions.ts'
import { compilePattern, type Pattern } from './regex.ts'
import { fail, FAULT, typeWord, type Run } from './values.ts'

// Calls of functions, and the macros over lists and maps.

/** Worth doing once rather than for every event: none of these can make a large value. */
const FOLDED = new Set(['timestamp', 'duration', 'int', 'uint', 'double', 'bool'])

export function callCode(build: Build, node: Node & { kind: 'call' }, scope: Scope): Code {
  const { call: fn } = definitionOf(build, node)
  const args = (node.target === null ? node.args : [node.target, ...node.args]).map((arg) => build.code(arg, scope))
  const steps = total(args) + 4
  const [a, b, d, e] = args.map(({ run }) => run) as [Run, Run?, Run?, Run?]
  const pattern = args[1]?.constant
  if (node.name === 'matches' && typeof pattern === 'string') {
    const compiled = compilePattern(pattern)
    const at = node.args.at(-1)?.at ?? node.at
    if (typeof compiled === 'string') return reject(build, at, compiled)
    keepPattern(build, at, compiled.bytes)
    return { run: matchesRun(a, compiled), steps }
  }
  if (b === undefined) {
    const run: Run = (c) => {
      const x = a(c)
      return x === FAULT ? FAULT : fn(c, x, undefined, undefined, undefined)
    }
    return FOLDED.has(node.name) ? fold(run, args) : { run, steps }
  }
  if (d === undefined) return { run: binaryCall(a, b, (c, x, y) => fn(c, x, y, undefined, undefined)), steps }
  return {
    steps,
    run: (c) => {
      const x = a(c)
      const y = x === FAULT ? FAULT : b(c)
      const z = y === FAULT ? FAULT : d(c)
      const w = z === FAULT || e === undefined ? undefined : e(c)
      if (x === FAULT || y === FAULT || z === FAULT || w === FAULT) return FAULT
      return fn(c, x, y, z, w)
    },
  }
}

function definitionOf(build: Build, { name, target, args, at }: Node & { kind: 'call' }): Definition {
  const definition = FUNCTIONS.get(name)
  if (definition === undefined) return reject(build, at, `unknown function '${name}'`)
  const asMethod = target !== null
  if (asMethod && !definition.asMethod) return reject(build, at, `${name}() is written ${name}(x)`)
  if (!asMethod && !definition.asFunction) return reject(build, at, `${name}() is written x.${name}(…)`)
  const hidden = asMethod ? 1 : 0
  const [least, most] = [definition.least - hidden, definition.most - hidden]
  if (args.length >= least && args.length <= most) return definition
  const wanted = least === most ? String(least) : `${least} or ${most}`
  return reject(build, at, `${name}() takes ${wanted} argument${most === 1 ? '' : 's'}, not ${args.length}`)
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
  const slot = build.roots.size + scope.depth
  const inner: Scope = { places: new Map(scope.places).set(node.variable, slot), depth: scope.depth + 1 }
  build.places = Math.max(build.places, slot + 1)
  const where = node.where === null ? null : build.code(node.where, inner)
  const into = node.into === null ? null : build.code(node.into, inner)
  const run = comprehensionRun({
    macro: node.macro,
    range: range.run,
    slot,
    where: where?.run ?? null,
    into: into?.run ?? null,
    steps: 1 + (where?.steps ?? 0) + (into?.steps ?? 0),
  })
  return { run, steps: total([range]) }
}
