import { elementAt, readField, readVariable, readVariableField, testField } from './access.ts'
import type { Node } from './ast.ts'
import { comprehensionRun } from './comprehension.ts'
import { FilterSyntaxError } from './errors.ts'
import { FUNCTIONS, type Definition } from './functions.ts'
import {
  arithmeticRun,
  equalRun,
  equalTextRun,
  inConstantsRun,
  inRun,
  logicRun,
  orderRun,
  ternaryRun,
  unaryRun,
} from './operators.ts'
import { parse } from './parser.ts'
import { compilePattern } from './regex.ts'
import {
  DURATION_TYPE,
  fail,
  FAULT,
  keyOf,
  STEP_BUDGET,
  TIMESTAMP_TYPE,
  TypeValue,
  typeWord,
  type Context,
  type Key,
  type Run,
  type Value,
} from './values.ts'

export interface Program {
  readonly run: Run
  /** Steps to take off the budget before running: everything that is not inside a comprehension. */
  readonly steps: number
  /** Places needed in `Context.vars`. */
  readonly places: number
}

export interface Names {
  /** The variables, in the order of their places in `Context.vars`. */
  readonly variables: readonly string[]
  /** The variable in whose fields any other name is looked up; without it, any other name is an error. */
  readonly fallback: string | null
}

/** A node compiled to a closure. */
interface Code {
  readonly run: Run
  readonly steps: number
  /** The value, where it does not depend on the evaluation. */
  readonly constant?: Value
}

interface Scope {
  readonly places: ReadonlyMap<string, number>
  readonly depth: number
}

const TYPE_NAMES = new Set([
  'int',
  'uint',
  'double',
  'bool',
  'string',
  'bytes',
  'list',
  'map',
  'null_type',
  'type',
  TIMESTAMP_TYPE,
  DURATION_TYPE,
])
/** Worth doing once rather than for every event: none of these can make a large value. */
const FOLDED = new Set(['timestamp', 'duration', 'int', 'uint', 'double', 'bool'])

export function compile(source: string, names: Names): Program {
  const roots: ReadonlyMap<string, number> = new Map(names.variables.map((name, index) => [name, index]))
  const fallback = names.fallback === null ? undefined : roots.get(names.fallback)
  let places = roots.size

  const reject = (at: number, reason: string): never => {
    throw new FilterSyntaxError(source, at, reason)
  }

  function code(node: Node, scope: Scope): Code {
    switch (node.kind) {
      case 'literal':
        return constant(node.value)
      case 'name':
        return { run: name(node, scope), steps: 1 }
      case 'select':
        return select(node, scope)
      case 'index':
        return index(node, scope)
      case 'has':
        return has(node, scope)
      case 'call':
        return call(node, scope)
      case 'list':
        return list(node, scope)
      case 'map':
        return map(node, scope)
      case 'unary': {
        const operand = code(node.operand, scope)
        return fold(unaryRun(node.op, operand.run), [operand])
      }
      case 'binary':
        return binary(node, scope)
      case 'logic': {
        const operands = node.operands.map((operand) => code(operand, scope))
        return {
          run: logicRun(
            node.op,
            operands.map(({ run }) => run),
          ),
          steps: total(operands),
        }
      }
      case 'ternary': {
        const [test, yes, no] = [code(node.test, scope), code(node.yes, scope), code(node.no, scope)]
        return { run: ternaryRun(test.run, yes.run, no.run), steps: total([test, yes, no]) }
      }
      case 'comprehension':
        return comprehension(node, scope)
    }
  }

  function name({ name, absolute, at }: Node & { kind: 'name' }, scope: Scope): Run {
    const place = (absolute ? roots : scope.places).get(name)
    if (place !== undefined) return readVariable(place, name)
    if (fallback !== undefined) return readVariableField(fallback, name)
    return reject(at, `unknown name '${name}', which is none of ${names.variables.join(', ')}`)
  }

  function select({ object, field }: Node & { kind: 'select' }, scope: Scope): Code {
    if (object.kind === 'name') {
      const place = (object.absolute ? roots : scope.places).get(object.name)
      // A mapping's variables may be absent altogether, and then it is the variable that the message has to name.
      if (place !== undefined && (fallback !== undefined || place >= roots.size)) {
        return { run: readVariableField(place, field), steps: 2 }
      }
    }
    const from = code(object, scope)
    return { run: readField(from.run, field), steps: total([from]) }
  }

  function index(node: Node & { kind: 'index' }, scope: Scope): Code {
    const object = code(node.object, scope)
    const key = code(node.key, scope)
    const steps = total([object, key])
    if (typeof key.constant === 'string') {
      return { run: readField(object.run, key.constant, `no such key: ${JSON.stringify(key.constant)}`), steps }
    }
    return { run: binaryCall(object.run, key.run, elementAt), steps }
  }

  function has({ object, field, at }: Node & { kind: 'has' }, scope: Scope): Code {
    if (object !== null) {
      const from = code(object, scope)
      return { run: testField(from.run, field), steps: total([from]) }
    }
    if (fallback === undefined || scope.places.has(field)) {
      return reject(at, 'has() takes one field, such as has(data.amount)')
    }
    return { run: testField(readVariable(fallback, names.fallback as string), field), steps: 2 }
  }

  function list({ items }: Node & { kind: 'list' }, scope: Scope): Code {
    const codes = items.map((item) => code(item, scope))
    const runs = codes.map(({ run }) => run)
    const run: Run = (c) => {
      const made: Value[] = []
      for (let i = 0; i < runs.length; i++) {
        const value = (runs[i] as Run)(c)
        if (value === FAULT) return FAULT
        made.push(value)
      }
      return made
    }
    return fold(run, codes)
  }

  function map({ entries }: Node & { kind: 'map' }, scope: Scope): Code {
    const codes = entries.flat().map((part) => code(part, scope))
    const runs = codes.map(({ run }) => run)
    const run: Run = (c) => {
      const made = new Map<Key, Value>()
      for (let i = 0; i < runs.length; i += 2) {
        const written = (runs[i] as Run)(c)
        const value = written === FAULT ? FAULT : (runs[i + 1] as Run)(c)
        if (written === FAULT || value === FAULT) return FAULT
        const type = typeWord(written)
        const key = type === 'double' ? undefined : keyOf(written)
        if (key === undefined) return fail(c, `${type} cannot be a key of a map`)
        if (made.has(key)) return fail(c, `key ${String(key)} stands twice in a map`)
        made.set(key, value)
      }
      return made
    }
    return fold(run, codes)
  }

  function binary(node: Node & { kind: 'binary' }, scope: Scope): Code {
    const { op } = node
    const named = op === '==' || op === '!=' || op === 'in'
    const left = named && isTypeCall(node.right) ? typeOperand(node.left, scope) : code(node.left, scope)
    const right = named && isTypeCall(node.left) ? typeOperand(node.right, scope) : code(node.right, scope)
    const steps = total([left, right])
    switch (op) {
      case '==':
      case '!=': {
        const wanted = op === '=='
        if (typeof right.constant === 'string') return { run: equalTextRun(left.run, right.constant, wanted), steps }
        if (typeof left.constant === 'string') return { run: equalTextRun(right.run, left.constant, wanted), steps }
        return { run: equalRun(left.run, right.run, wanted), steps }
      }
      case 'in': {
        const quick = Array.isArray(right.constant) ? inConstantsRun(left.run, right.constant as Value[]) : null
        return { run: quick ?? inRun(left.run, right.run), steps }
      }
      case '<':
      case '<=':
      case '>':
      case '>=':
        return { run: orderRun(op, left.run, right.run), steps }
      default:
        return { run: arithmeticRun(op, left.run, right.run), steps }
    }
  }

  /**
   * `int` is a type beside `type(x)`, alone or in a list, and a name like any other elsewhere: an event may well have
   * a field called `map`, and nothing that an event can hold equals a type.
   */
  function typeOperand(node: Node, scope: Scope): Code {
    if (node.kind === 'list') {
      const items = node.items.map((item) => typeOperand(item, scope))
      if (items.every((item) => item.constant !== undefined)) {
        return constant(items.map((item) => item.constant as Value))
      }
    }
    const path = dottedName(node)
    return path !== null && TYPE_NAMES.has(path) ? constant(new TypeValue(path)) : code(node, scope)
  }

  function call(node: Node & { kind: 'call' }, scope: Scope): Code {
    const definition = definitionOf(node)
    const args = (node.target === null ? node.args : [node.target, ...node.args]).map((arg) => code(arg, scope))
    const steps = total(args) + 4
    const [a, b, d, e] = args.map(({ run }) => run) as [Run, Run?, Run?, Run?]
    const pattern = args[1]?.constant
    if (node.name === 'matches' && typeof pattern === 'string') {
      const compiled = compilePattern(pattern)
      if (typeof compiled === 'string') return reject(node.args.at(-1)?.at ?? node.at, compiled)
      return { run: matchesRun(a, compiled.search), steps }
    }
    const { call: fn } = definition
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

  function definitionOf({ name, target, args, at }: Node & { kind: 'call' }): Definition {
    const definition = FUNCTIONS.get(name)
    if (definition === undefined) return reject(at, `unknown function '${name}'`)
    const asMethod = target !== null
    if (asMethod && !definition.asMethod) return reject(at, `${name}() is written ${name}(x)`)
    if (!asMethod && !definition.asFunction) return reject(at, `${name}() is written x.${name}(…)`)
    const hidden = asMethod ? 1 : 0
    const [least, most] = [definition.least - hidden, definition.most - hidden]
    if (args.length >= least && args.length <= most) return definition
    const wanted = least === most ? String(least) : `${least} or ${most}`
    return reject(at, `${name}() takes ${wanted} argument${most === 1 ? '' : 's'}, not ${args.length}`)
  }

  function comprehension(node: Node & { kind: 'comprehension' }, scope: Scope): Code {
    const range = code(node.range, scope)
    const slot = roots.size + scope.depth
    const inner: Scope = { places: new Map(scope.places).set(node.variable, slot), depth: scope.depth + 1 }
    places = Math.max(places, slot + 1)
    const where = node.where === null ? null : code(node.where, inner)
    const into = node.into === null ? null : code(node.into, inner)
    const steps = 1 + (where?.steps ?? 0) + (into?.steps ?? 0)
    const { macro } = node
    const run = comprehensionRun({
      macro,
      range: range.run,
      slot,
      where: where?.run ?? null,
      into: into?.run ?? null,
      steps,
    })
    return { run, steps: total([range]) }
  }

  const { run, steps } = code(parse(source), { places: roots, depth: 0 })
  return { run, steps, places }
}

function total(parts: readonly Code[]): number {
  return parts.reduce((sum, { steps }) => sum + steps, 1)
}

function constant(value: Value): Code {
  return { run: () => value, steps: 1, constant: value }
}

/** Runs it now, where it depends on nothing and does not fail. */
function fold(run: Run, parts: readonly Code[]): Code {
  if (parts.every((part) => part.constant !== undefined)) {
    const value = run({ vars: [], fault: '', left: STEP_BUDGET, pattern: null })
    if (value !== FAULT) return constant(value)
  }
  return { run, steps: total(parts) + 4 }
}

function binaryCall(left: Run, right: Run, fn: (c: Context, a: Value, b: Value) => Value | typeof FAULT): Run {
  return (c) => {
    const a = left(c)
    if (a === FAULT) return FAULT
    const b = right(c)
    return b === FAULT ? FAULT : fn(c, a, b)
  }
}

function matchesRun(text: Run, search: (c: Context, text: string) => Value | typeof FAULT): Run {
  return (c) => {
    const value = text(c)
    if (value === FAULT) return FAULT
    return typeof value === 'string' ? search(c, value) : fail(c, `matches() cannot be applied to ${typeWord(value)}`)
  }
}

function isTypeCall(node: Node): boolean {
  return node.kind === 'call' && node.name === 'type' && node.target === null
}

/** `a.b.c` as text; null for anything else. */
function dottedName(node: Node): string | null {
  if (node.kind === 'name') return node.name
  if (node.kind !== 'select') return null
  const object = dottedName(node.object)
  return object === null ? null : `${object}.${node.field}`
}
