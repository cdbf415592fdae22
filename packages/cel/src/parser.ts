import type { BinaryOp, Macro, Node, UnaryOp } from './ast.ts'
import { countCodePoints, CelSyntaxError } from './errors.ts'
import { tokenize, type Token } from './lexer.ts'
import { MIN_INT } from './values.ts'

export const MAX_SOURCE_CHARS = 4096
/**
 * Bounds brackets within brackets as well as the height of the tree (`a.b.c.d` is a tall tree without any), so that
 * neither parsing nor compiling nor evaluating can exhaust the stack. Chains of `&&` and `||` are flat.
 */
const MAX_DEPTH = 200

const PRECEDENCE: ReadonlyMap<string, number> = new Map([
  ['<', 1],
  ['<=', 1],
  ['>', 1],
  ['>=', 1],
  ['==', 1],
  ['!=', 1],
  ['in', 1],
  ['+', 2],
  ['-', 2],
  ['*', 3],
  ['/', 3],
  ['%', 3],
])

const MACROS: ReadonlyMap<string, Macro> = new Map<string, Macro>([
  ['all', 'all'],
  ['exists', 'exists'],
  ['exists_one', 'exists_one'],
  ['existsOne', 'exists_one'],
  ['map', 'map'],
  ['filter', 'filter'],
])

type Draft = Node extends infer N ? (N extends Node ? Omit<N, 'height'> : never) : never

/** Parses CEL; anything wrong with the source is a CelSyntaxError. */
export function parse(source: string): Node {
  if (source.length > MAX_SOURCE_CHARS && countCodePoints(source) > MAX_SOURCE_CHARS) {
    throw new CelSyntaxError(source, lastAllowed(source), `longer than ${MAX_SOURCE_CHARS} characters`)
  }
  const tokens = tokenize(source)
  let index = 0
  let depth = 0

  const peek = (): Token => tokens[index] as Token
  const next = (): Token => tokens[index++] as Token
  const isOp = (text: string): boolean => peek().kind === 'op' && peek().text === text
  const fail = (at: number, reason: string): never => {
    throw new CelSyntaxError(source, at, reason)
  }
  const unexpected = (token: Token): never => {
    if (token.kind === 'end') return fail(token.at, 'unexpected end of the expression')
    return fail(token.at, `unexpected '${token.text.length > 40 ? `${token.text.slice(0, 40)}…` : token.text}'`)
  }
  const accept = (text: string): boolean => {
    if (!isOp(text)) return false
    index++
    return true
  }
  const expect = (text: string): void => {
    if (!accept(text)) unexpected(peek())
  }
  const node = (draft: Draft, ...children: readonly Node[]): Node => {
    let height = 0
    for (const child of children) if (child.height > height) height = child.height
    if (height >= MAX_DEPTH) fail(draft.at, 'nested too deeply')
    return { ...draft, height: height + 1 }
  }

  function expression(): Node {
    if (++depth > MAX_DEPTH) fail(peek().at, 'nested too deeply')
    const test = logic('||')
    let result = test
    const { at } = peek()
    if (accept('?')) {
      const yes = logic('||')
      expect(':')
      const no = expression()
      result = node({ kind: 'ternary', at, test, yes, no }, test, yes, no)
    }
    depth--
    return result
  }

  function logic(op: '&&' | '||'): Node {
    const { at } = peek()
    const operands: Node[] = []
    do operands.push(op === '||' ? logic('&&') : binary(1))
    while (accept(op))
    return operands.length === 1 ? (operands[0] as Node) : node({ kind: 'logic', at, op, operands }, ...operands)
  }

  function binary(lowest: number): Node {
    let left = unary()
    for (;;) {
      const token = peek()
      const precedence = token.kind === 'op' || token.text === 'in' ? PRECEDENCE.get(token.text) : undefined
      if (precedence === undefined || precedence < lowest || token.kind === 'quoted') return left
      index++
      const right = binary(precedence + 1)
      left = node({ kind: 'binary', at: token.at, op: token.text as BinaryOp, left, right }, left, right)
    }
  }

  function unary(): Node {
    const token = peek()
    if (token.kind !== 'op' || (token.text !== '!' && token.text !== '-')) return member()
    index++
    if (token.text === '-' && peek().kind === 'huge') {
      index++
      return node({ kind: 'literal', at: token.at, value: MIN_INT })
    }
    if (++depth > MAX_DEPTH) fail(token.at, 'nested too deeply')
    const operand = unary()
    depth--
    return node({ kind: 'unary', at: token.at, op: token.text as UnaryOp, operand }, operand)
  }

  function member(): Node {
    let object = primary()
    for (;;) {
      const { at } = peek()
      if (accept('[')) {
        const key = expression()
        expect(']')
        object = node({ kind: 'index', at, object, key }, object, key)
      } else if (accept('.')) {
        const token = next()
        if (token.kind !== 'name' && token.kind !== 'quoted') unexpected(token)
        object =
          token.kind === 'name' && isOp('(')
            ? method(object, token)
            : node({ kind: 'select', at: token.at, object, field: token.text }, object)
      } else {
        return object
      }
    }
  }

  function primary(): Node {
    const token = next()
    const { at } = token
    if (token.kind === 'literal') return node({ kind: 'literal', at, value: token.value })
    if (token.kind === 'huge') return fail(at, 'integer out of range')
    if (token.kind === 'name') return named(token, false)
    if (token.kind !== 'op') return unexpected(token)
    if (token.text === '(') {
      const inner = expression()
      expect(')')
      return inner
    }
    if (token.text === '[') {
      const items = sequence(']', expression)
      return node({ kind: 'list', at, items }, ...items)
    }
    if (token.text === '{') {
      const entries = sequence('}', (): [Node, Node] => {
        const key = expression()
        expect(':')
        return [key, expression()]
      })
      return node({ kind: 'map', at, entries }, ...entries.flat())
    }
    if (token.text === '.' && peek().kind === 'name') return named(next(), true)
    return unexpected(token)
  }

  /** Items up to the closing bracket; a comma may stand behind the last one, except in a call. */
  function sequence<T>(close: string, item: () => T): T[] {
    const items: T[] = []
    while (!accept(close)) {
      items.push(item())
      if (accept(close)) break
      expect(',')
      if (close === ')' && isOp(close)) unexpected(peek())
    }
    return items
  }

  function named(token: Token, absolute: boolean): Node {
    const { at, text } = token
    if (accept('(')) {
      const args = sequence(')', expression)
      if (text === 'has') return has(at, args)
      return node({ kind: 'call', at, name: text, target: null, args }, ...args)
    }
    if (text === 'true' || text === 'false') return node({ kind: 'literal', at, value: text === 'true' })
    if (text === 'null') return node({ kind: 'literal', at, value: null })
    if (text === 'in') return unexpected(token)
    return node({ kind: 'name', at, name: text, absolute })
  }

  function has(at: number, args: readonly Node[]): Node {
    const field = args[0]
    if (args.length === 1 && field?.kind === 'select') {
      return node({ kind: 'has', at, object: field.object, field: field.field }, field)
    }
    if (args.length === 1 && field?.kind === 'name') {
      return node({ kind: 'has', at: field.at, object: null, field: field.name }, field)
    }
    return fail(at, 'has() takes one field, such as has(data.amount)')
  }

  function method(target: Node, name: Token): Node {
    expect('(')
    const args = sequence(')', expression)
    const macro = MACROS.get(name.text)
    if (macro === undefined) {
      return node({ kind: 'call', at: name.at, name: name.text, target, args }, target, ...args)
    }
    const [variable, first, second] = args
    if (first === undefined || args.length > (macro === 'map' ? 3 : 2)) {
      return fail(
        name.at,
        `${name.text}() takes a name and ${macro === 'map' ? 'one or two expressions' : 'a condition'}`,
      )
    }
    if (variable?.kind !== 'name' || variable.absolute) {
      return fail(variable?.at ?? name.at, `the first argument of ${name.text}() is a name for the element`)
    }
    const where = macro !== 'map' || second !== undefined ? first : null
    const into = macro === 'map' ? (second ?? first) : null
    const draft: Draft = {
      kind: 'comprehension',
      at: name.at,
      macro,
      range: target,
      variable: variable.name,
      where,
      into,
    }
    return node(draft, target, ...args)
  }

  const root = expression()
  if (peek().kind !== 'end') unexpected(peek())
  return root
}

/** Where the first character too many stands. */
function lastAllowed(source: string): number {
  let at = 0
  for (let count = 0; count < MAX_SOURCE_CHARS; count++) at += (source.codePointAt(at) as number) > 0xffff ? 2 : 1
  return at
}
