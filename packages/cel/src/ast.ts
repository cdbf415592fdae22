import type { Value } from './values.ts'

export type UnaryOp = '!' | '-'
export type OrderOp = '<' | '<=' | '>' | '>='
export type ArithmeticOp = '+' | '-' | '*' | '/' | '%'
export type BinaryOp = OrderOp | ArithmeticOp | '==' | '!=' | 'in'
export type Macro =
  | 'all'
  | 'exists'
  | 'exists_one'
  | 'map'
  | 'filter'
  | 'transformList'
  | 'transformMap'
  | 'transformMapEntry'

/** A part of a list or map that is left out where it is an optional without a value: `[?a]`, `{?k: a}`. */
export interface Part {
  readonly node: Node
  readonly optional: boolean
}

export interface Entry {
  readonly key: Node
  readonly value: Node
  readonly optional: boolean
}

interface Base {
  /** Where an error about this node points, in UTF-16 units. */
  readonly at: number
  /** Levels of nodes from here down; bounds every recursion over the tree. */
  readonly height: number
}

export type Node =
  | (Base & { readonly kind: 'literal'; readonly value: Value })
  /** `absolute`: written `.name`, which no comprehension variable hides. */
  | (Base & { readonly kind: 'name'; readonly name: string; readonly absolute: boolean })
  | (Base & { readonly kind: 'select'; readonly object: Node; readonly field: string; readonly optional: boolean })
  | (Base & { readonly kind: 'index'; readonly object: Node; readonly key: Node; readonly optional: boolean })
  | (Base & { readonly kind: 'has'; readonly object: Node | null; readonly field: string })
  | (Base & {
      readonly kind: 'call'
      readonly name: string
      readonly target: Node | null
      readonly args: readonly Node[]
    })
  | (Base & { readonly kind: 'list'; readonly items: readonly Part[] })
  | (Base & { readonly kind: 'map'; readonly entries: readonly Entry[] })
  | (Base & { readonly kind: 'unary'; readonly op: UnaryOp; readonly operand: Node })
  | (Base & { readonly kind: 'binary'; readonly op: BinaryOp; readonly left: Node; readonly right: Node })
  | (Base & { readonly kind: 'logic'; readonly op: '&&' | '||'; readonly operands: readonly Node[] })
  | (Base & { readonly kind: 'ternary'; readonly test: Node; readonly yes: Node; readonly no: Node })
  | (Base & {
      readonly kind: 'comprehension'
      readonly macro: Macro
      readonly range: Node
      /** The element of a list or the key of a map; with a second variable, the index or the key. */
      readonly variable: string
      /** With two variables, the element or the value. */
      readonly second: string | null
      /** The predicate; null for the `map` without one. */
      readonly where: Node | null
      /** What `map` and the others that transform make of each element; null for the rest. */
      readonly into: Node | null
    })
  /** `cel.bind(name, value, body)`. */
  | (Base & { readonly kind: 'bind'; readonly name: string; readonly value: Node; readonly body: Node })
  /** `target.optMap(name, body)`, and `optFlatMap`, whose body gives an optional itself. */
  | (Base & {
      readonly kind: 'optMap'
      readonly flat: boolean
      readonly target: Node
      readonly name: string
      readonly body: Node
    })
