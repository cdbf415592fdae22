// Parses CEL by recursive descent, within limits of length and depth.
import type { BinaryOp, Entry, Node, Part, UnaryOp } from './ast.ts'
import { countCodePoints, CelSyntaxError } from './errors.ts'
import { tokenize, type Token } from './lexer.ts'
import { expandCall, expandMethod, type Draft } from './macros.ts'
import { MIN_INT } from './values.ts'

const MAX_SOURCE_CHARS = 4096
/**
 * Bounds nested brackets and the height of the tree (`a.b.c.d` is a tall tree without brackets), so that neither
 * parsing nor compiling nor evaluating can overflow the stack. Chains of `&&` and `||` are flat.
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

/** Parses CEL. Throws a CelSyntaxError if the source is invalid. */
export function parse(source: string): Node {
  if (source.length > MAX_SOURCE_CHARS && countCodePoints(source) > MAX_SOURCE_CHARS) {
    throw new CelSyntaxError(source, firstExcess(source), `longer than ${MAX_SOURCE_CHARS} characters`)
  }
  return new Parser(source).parse()
}

/** Returns the offset of the first character beyond the limit. */
function firstExcess(source: string): number {
  let at = 0
  for (let count = 0; count < MAX_SOURCE_CHARS; count++) at += (source.codePointAt(at) as number) > 0xffff ? 2 : 1
  return at
}

/** A recursive descent parser for one source. */
class Parser {
  readonly #source: string
  readonly #tokens: readonly Token[]
  #index = 0
  #depth = 0

  constructor(source: string) {
    this.#source = source
    this.#tokens = tokenize(source)
  }

  parse(): Node {
    const root = this.#expression()
    if (this.#peek().kind !== 'end') this.#unexpected(this.#peek())
    return root
  }

  /** Makes a node with these children. Macros use this and `fail`. */
  readonly node = (draft: Draft, ...children: readonly Node[]): Node => {
    let height = 0
    for (const child of children) if (child.height > height) height = child.height
    if (height >= MAX_DEPTH) this.fail(draft.at, 'nested too deeply')
    return { ...draft, height: height + 1 }
  }

  readonly fail = (at: number, reason: string): never => {
    throw new CelSyntaxError(this.#source, at, reason)
  }

  #peek(): Token {
    return this.#tokens[this.#index] as Token
  }

  #next(): Token {
    return this.#tokens[this.#index++] as Token
  }

  #isOp(text: string): boolean {
    return this.#peek().kind === 'op' && this.#peek().text === text
  }

  #accept(text: string): boolean {
    if (!this.#isOp(text)) return false
    this.#index++
    return true
  }

  #expect(text: string): void {
    if (!this.#accept(text)) this.#unexpected(this.#peek())
  }

  #unexpected(token: Token): never {
    if (token.kind === 'end') return this.fail(token.at, 'unexpected end of the expression')
    return this.fail(token.at, `unexpected '${token.text.length > 40 ? `${token.text.slice(0, 40)}…` : token.text}'`)
  }

  #expression(): Node {
    if (++this.#depth > MAX_DEPTH) this.fail(this.#peek().at, 'nested too deeply')
    const test = this.#logic('||')
    let result = test
    const { at } = this.#peek()
    if (this.#accept('?')) {
      const yes = this.#logic('||')
      this.#expect(':')
      const no = this.#expression()
      result = this.node({ kind: 'ternary', at, test, yes, no }, test, yes, no)
    }
    this.#depth--
    return result
  }

  #logic(op: '&&' | '||'): Node {
    const { at } = this.#peek()
    const operands: Node[] = []
    do operands.push(op === '||' ? this.#logic('&&') : this.#binary(1))
    while (this.#accept(op))
    return operands.length === 1 ? (operands[0] as Node) : this.node({ kind: 'logic', at, op, operands }, ...operands)
  }

  #binary(lowest: number): Node {
    let left = this.#unary()
    for (;;) {
      const token = this.#peek()
      const precedence = token.kind === 'op' || token.text === 'in' ? PRECEDENCE.get(token.text) : undefined
      if (precedence === undefined || precedence < lowest || token.kind === 'quoted') return left
      this.#index++
      const right = this.#binary(precedence + 1)
      left = this.node({ kind: 'binary', at: token.at, op: token.text as BinaryOp, left, right }, left, right)
    }
  }

  #unary(): Node {
    const token = this.#peek()
    if (token.kind !== 'op' || (token.text !== '!' && token.text !== '-')) return this.#member()
    this.#index++
    if (token.text === '-' && this.#peek().kind === 'huge') {
      this.#index++
      return this.node({ kind: 'literal', at: token.at, value: MIN_INT })
    }
    if (++this.#depth > MAX_DEPTH) this.fail(token.at, 'nested too deeply')
    const operand = this.#unary()
    this.#depth--
    return this.node({ kind: 'unary', at: token.at, op: token.text as UnaryOp, operand }, operand)
  }

  #member(): Node {
    let object = this.#primary()
    for (;;) {
      const { at } = this.#peek()
      if (this.#accept('[')) {
        const optional = this.#accept('?')
        const key = this.#expression()
        this.#expect(']')
        object = this.node({ kind: 'index', at, object, key, optional }, object, key)
      } else if (this.#accept('.')) {
        const optional = this.#accept('?')
        const token = this.#next()
        if (token.kind !== 'name' && token.kind !== 'quoted') this.#unexpected(token)
        object =
          token.kind === 'name' && !optional && this.#accept('(')
            ? expandMethod(
                this,
                object,
                token,
                this.#sequence(')', () => this.#expression()),
              )
            : this.node({ kind: 'select', at: token.at, object, field: token.text, optional }, object)
      } else {
        return object
      }
    }
  }

  #primary(): Node {
    const token = this.#next()
    const { at } = token
    if (token.kind === 'literal') return this.node({ kind: 'literal', at, value: token.value })
    if (token.kind === 'huge') return this.fail(at, 'integer out of range')
    if (token.kind === 'name') return this.#named(token, false)
    if (token.kind !== 'op') return this.#unexpected(token)
    if (token.text === '(') {
      const inner = this.#expression()
      this.#expect(')')
      return inner
    }
    if (token.text === '[') {
      const items = this.#sequence(']', () => this.#part())
      return this.node({ kind: 'list', at, items }, ...items.map(({ node }) => node))
    }
    if (token.text === '{') {
      const entries = this.#sequence('}', () => this.#entry())
      return this.node({ kind: 'map', at, entries }, ...entries.flatMap(({ key, value }) => [key, value]))
    }
    if (token.text === '.' && this.#peek().kind === 'name') return this.#named(this.#next(), true)
    return this.#unexpected(token)
  }

  #part(): Part {
    const optional = this.#accept('?')
    return { optional, node: this.#expression() }
  }

  #entry(): Entry {
    const optional = this.#accept('?')
    const key = this.#expression()
    this.#expect(':')
    return { optional, key, value: this.#expression() }
  }

  /** Parses items up to the closing bracket. A trailing comma is allowed, except in a call. */
  #sequence<T>(close: string, item: () => T): T[] {
    const items: T[] = []
    while (!this.#accept(close)) {
      items.push(item())
      if (this.#accept(close)) break
      this.#expect(',')
      if (close === ')' && this.#isOp(close)) this.#unexpected(this.#peek())
    }
    return items
  }

  #named(token: Token, absolute: boolean): Node {
    const { at, text } = token
    if (this.#accept('(')) {
      return expandCall(
        this,
        token,
        this.#sequence(')', () => this.#expression()),
      )
    }
    if (text === 'true' || text === 'false') return this.node({ kind: 'literal', at, value: text === 'true' })
    if (text === 'null') return this.node({ kind: 'literal', at, value: null })
    if (text === 'in') return this.#unexpected(token)
    return this.node({ kind: 'name', at, name: text, absolute })
  }
}
