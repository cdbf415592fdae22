// The tree of a parsed expression. Macros are nodes of their own, because their arguments are not values.
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

/** A part of a list or map. If `optional`, as in `[?a]` and `{?k: a}`, it is left out when it has no value. */
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
  /** The offset that an error about this node reports, in UTF-16 units. */
  readonly at: number
  /** The height of the subtree; it bounds every recursion over the tree. */
  readonly height: number
}

export type Node =
  | (Base & { readonly kind: 'literal'; readonly value: Value })
  /** `absolute`: written `.name`, which a comprehension variable cannot shadow. */
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
      /** The condition; null for a macro without one. */
      readonly where: Node | null
      /** The result for each element, for `map` and the other transforming macros; null for the rest. */
      readonly into: Node | null
    })
  /** `cel.bind(name, value, body)`. */
  | (Base & { readonly kind: 'bind'; readonly name: string; readonly value: Node; readonly body: Node })
  /** `target.optMap(name, body)`, and `optFlatMap`, whose body returns an optional itself. */
  | (Base & {
      readonly kind: 'optMap'
      readonly flat: boolean
      readonly target: Node
      readonly name: string
      readonly body: Node
    })
