// How functions are declared: the number of their arguments, and whether they are written `f(x)` or `x.f()`.
import type { Context, Result, Value } from './values.ts'

/** Arguments that were left out are undefined. */
export type Arg = Value | undefined
export type Fn = (c: Context, a: Value, b: Arg, d: Arg, e: Arg) => Result

export interface Definition {
  readonly call: Fn
  /** The number of arguments, with the target of a method as the first. */
  readonly least: number
  readonly most: number
  /** Written `f(x)`. */
  readonly asFunction: boolean
  /** Written `x.f()`. */
  readonly asMethod: boolean
  /** More than one argument is passed as a list. */
  readonly variadic: boolean
}

export type Definitions = readonly (readonly [name: string, definition: Definition])[]

export const functionOf = (call: Fn, least: number, most = least): Definition => ({
  call,
  least,
  most,
  asFunction: true,
  asMethod: false,
  variadic: false,
})
export const method = (call: Fn, least: number, most = least): Definition => ({
  ...functionOf(call, least, most),
  asFunction: false,
  asMethod: true,
})
export const either = (call: Fn, arity: number): Definition => ({ ...functionOf(call, arity), asMethod: true })
export const variadic = (call: Fn): Definition => ({ ...functionOf(call, 1, Infinity), variadic: true })
