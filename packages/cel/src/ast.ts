import type { Value } from './values.ts'

export type UnaryOp = '!' | '-'
export type OrderOp = '<' | '<=' | '>' | '>='
export type ArithmeticOp = '+' | '-' | '*' | '/' | '%'
export type BinaryOp = OrderOp | ArithmeticOp | '==' | '!=' | 'in'
export type Macro = 'all' | 'exists' | 'exists_one' | 'map' | 'filter'

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
  | (Base & { readonly kind: 'select'; readonly object: Node; readonly field: string })
  | (Base & { readonly kind: 'index'; readonly object: Node; readonly key: Node })
  | (Base & { readonly kind: 'has'; readonly object: Node | null; readonly field: string })
  | (Base & {
      readonly kind: 'call'
      readonly name: string
      readonly target: Node | null
      readonly args: readonly Node[]
    })
  | (Base & { readonly kind: 'list'; readonly items: readonly Node[] })
  | (Base & { readonly kind: 'map'; readonly entries: readonly (readonly [Node, Node])[] })
  | (Base & { readonly kind: 'unary'; readonly op: UnaryOp; readonly operand: Node })
  | (Base & { readonly kind: 'binary'; readonly op: BinaryOp; readonly left: Node; readonly right: Node })
  | (Base & { readonly kind: 'logic'; readonly op: '&&' | '||'; readonly operands: readonly Node[] })
  | (Base & { readonly kind: 'ternary'; readonly test: Node; readonly yes: Node; readonly no: Node })
  | (Base & {
      readonly kind: 'comprehension'
      readonly macro: Macro
      readonly range: Node
      readonly variable: string
      /** The predicate; null for the `map` without one. */
      readonly where: Node | null
      /** What `map` makes of each element; null for the others. */
      readonly into: Node | null
    })
