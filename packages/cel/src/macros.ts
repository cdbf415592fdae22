// Macros: calls whose arguments are names and expressions rather than values. The parser passes every call to
// `expandCall` or `expandMethod`.
import type { Macro, Node } from './ast.ts'
import type { Token } from './lexer.ts'

export type Draft = Node extends infer N ? (N extends Node ? Omit<N, 'height'> : never) : never

interface NodeMaker {
  node(draft: Draft, ...children: readonly Node[]): Node
  fail(at: number, reason: string): never
}

interface Shape {
  readonly macro: Macro
  /** The arguments after the names: a condition, a result, or a result with an optional condition before it. */
  readonly takes: 'condition' | 'result' | 'condition and result'
  /** How many variables it can have: one, two or either. */
  readonly variables: readonly number[]
}

const MACROS: ReadonlyMap<string, Shape> = new Map<string, Shape>([
  ['all', { macro: 'all', takes: 'condition', variables: [1, 2] }],
  ['exists', { macro: 'exists', takes: 'condition', variables: [1, 2] }],
  ['exists_one', { macro: 'exists_one', takes: 'condition', variables: [1, 2] }],
  ['existsOne', { macro: 'exists_one', takes: 'condition', variables: [1, 2] }],
  ['map', { macro: 'map', takes: 'condition and result', variables: [1] }],
  ['filter', { macro: 'filter', takes: 'condition', variables: [1] }],
  ['transformList', { macro: 'transformList', takes: 'condition and result', variables: [2] }],
  ['transformMap', { macro: 'transformMap', takes: 'condition and result', variables: [2] }],
  ['transformMapEntry', { macro: 'transformMapEntry', takes: 'condition and result', variables: [2] }],
])

export const MACRO_NAMES: readonly string[] = [...MACROS.keys(), 'has', 'optMap', 'optFlatMap', 'cel.bind', 'cel.block']

/** `name(…)`. */
export function expandCall(maker: NodeMaker, { at, text }: Token, args: readonly Node[]): Node {
  if (text !== 'has') return maker.node({ kind: 'call', at, name: text, target: null, args }, ...args)
  const field = args[0]
  if (args.length === 1 && field?.kind === 'select') {
    if (field.optional) return maker.node({ kind: 'call', at, name: 'hasValue', target: field, args: [] }, field)
    return maker.node({ kind: 'has', at, object: field.object, field: field.field }, field)
  }
  if (args.length === 1 && field?.kind === 'name') {
    return maker.node({ kind: 'has', at: field.at, object: null, field: field.name }, field)
  }
  return maker.fail(at, 'has() takes one field, such as has(data.amount)')
}

/** `target.name(…)`. */
export function expandMethod(maker: NodeMaker, target: Node, name: Token, args: readonly Node[]): Node {
  const { at, text } = name
  const shape = MACROS.get(text)
  if (shape !== undefined) return comprehension(maker, shape, target, name, args)
  if (text === 'optMap' || text === 'optFlatMap') {
    const [variable, body] = args
    if (body === undefined || args.length > 2) return maker.fail(at, `${text}() takes a name and an expression`)
    const draft: Draft = {
      kind: 'optMap',
      at,
      flat: text === 'optFlatMap',
      target,
      name: named(maker, name, variable),
      body,
    }
    return maker.node(draft, target, body)
  }
  if (target.kind === 'name' && target.name === 'cel') {
    const expanded = celMacro(maker, name, args)
    if (expanded !== null) return expanded
  }
  return maker.node({ kind: 'call', at, name: text, target, args }, target, ...args)
}

function comprehension(maker: NodeMaker, shape: Shape, range: Node, name: Token, args: readonly Node[]): Node {
  const { macro, takes } = shape
  const most = takes === 'condition and result' ? 2 : 1
  // `map(x, condition, result)` has as many arguments as a form with two variables and a result.
  const variables = shape.variables.includes(2) && (shape.variables.length === 1 || args.length === 3) ? 2 : 1
  const rest = args.slice(variables)
  const [first, second] = rest
  if (first === undefined || rest.length > most) {
    const words = takes === 'condition' ? 'a condition' : 'one or two expressions'
    return maker.fail(name.at, `${name.text}() takes ${variables === 1 ? 'a name' : 'two names'} and ${words}`)
  }
  const draft: Draft = {
    kind: 'comprehension',
    at: name.at,
    macro,
    range,
    variable: named(maker, name, args[0]),
    second: variables === 2 ? named(maker, name, args[1]) : null,
    where: takes === 'condition' || second !== undefined ? first : null,
    into: takes === 'condition' ? null : (second ?? first),
  }
  if (draft.second === draft.variable) return maker.fail((args[1] as Node).at, 'the two names must differ')
  return maker.node(draft, range, ...rest)
}

function named(maker: NodeMaker, { at, text }: Token, node: Node | undefined): string {
  if (node?.kind === 'name' && !node.absolute) return node.name
  return maker.fail(node?.at ?? at, `the first argument of ${text}() is a name for the element`)
}

/** `cel.bind`, and the macros of tools that factor out common subexpressions: `cel.block`, `index`, `iterVar`. */
function celMacro(maker: NodeMaker, name: Token, args: readonly Node[]): Node | null {
  const { at, text } = name
  const numbers = args.map((arg) => (arg.kind === 'literal' && typeof arg.value === 'number' ? arg.value : -1))
  if (text === 'bind') {
    const [variable, value, body] = args
    if (value === undefined || body === undefined || args.length > 3) {
      return maker.fail(at, 'cel.bind() takes a name, its value and an expression')
    }
    return maker.node({ kind: 'bind', at, name: named(maker, name, variable), value, body }, value, body)
  }
  if (text === 'block') {
    const [values, body] = args
    if (values?.kind !== 'list' || body === undefined)
      return maker.fail(at, 'cel.block() takes a list and an expression')
    return values.items.reduceRight<Node>(
      (inner, { node: value }, i) =>
        maker.node({ kind: 'bind', at, name: `@index${i}`, value, body: inner }, value, inner),
      body,
    )
  }
  if (text === 'index' && args.length === 1) {
    return maker.node({ kind: 'name', at, name: `@index${numbers[0]}`, absolute: false })
  }
  if (text === 'iterVar' && args.length === 2) {
    return maker.node({ kind: 'name', at, name: `@var${numbers[0]}:${numbers[1]}`, absolute: false })
  }
  return null
}
