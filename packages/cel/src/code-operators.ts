// Compiles operators. A constant operand is known here, so that a comparison with a text or a list of constants takes a
// shorter way.
import type { Node } from './ast.ts'
import { constant, fold, total, type Build, type Code, type Scope } from './build.ts'
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
import { TYPE_NAMES, TypeValue, type Value } from './values.ts'

export function unaryCode(build: Build, node: Node & { kind: 'unary' }, scope: Scope): Code {
  const operand = build.code(node.operand, scope)
  return fold(unaryRun(node.op, operand.run), [operand])
}

export function logicCode(build: Build, node: Node & { kind: 'logic' }, scope: Scope): Code {
  const operands = node.operands.map((operand) => build.code(operand, scope))
  const runs = operands.map(({ run }) => run)
  return { run: logicRun(node.op, runs), steps: total(operands) }
}

export function ternaryCode(build: Build, node: Node & { kind: 'ternary' }, scope: Scope): Code {
  const [test, yes, no] = [build.code(node.test, scope), build.code(node.yes, scope), build.code(node.no, scope)]
  return { run: ternaryRun(test.run, yes.run, no.run), steps: total([test, yes, no]) }
}

export function binaryCode(build: Build, node: Node & { kind: 'binary' }, scope: Scope): Code {
  const { op } = node
  const named = op === '==' || op === '!=' || op === 'in'
  const left = named && isTypeCall(node.right) ? typeOperand(build, node.left, scope) : build.code(node.left, scope)
  const right = named && isTypeCall(node.left) ? typeOperand(build, node.right, scope) : build.code(node.right, scope)
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
 * `int` is a type when it is compared with `type(x)`, alone or in a list, and an ordinary name elsewhere: an event may
 * well have a field called `map`, and no value in an event equals a type.
 */
function typeOperand(build: Build, node: Node, scope: Scope): Code {
  if (node.kind === 'list' && !node.items.some(({ optional }) => optional)) {
    const items = node.items.map((item) => typeOperand(build, item.node, scope))
    if (items.every((item) => item.constant !== undefined)) {
      return constant(items.map((item) => item.constant as Value))
    }
  }
  const path = dottedName(node)
  return path !== null && TYPE_NAMES.has(path) ? constant(new TypeValue(path)) : build.code(node, scope)
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
