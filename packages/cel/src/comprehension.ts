import type { Macro } from './ast.ts'
import { isMap, mapKeys } from './compare.ts'
import { fail, FAULT, overBudget, spend, typeWord, type Context, type Result, type Run, type Value } from './values.ts'

export interface Comprehension {
  readonly macro: Macro
  readonly range: Run
  /** Where the element goes in `Context.vars`. */
  readonly slot: number
  readonly where: Run | null
  readonly into: Run | null
  /** What one element costs. */
  readonly steps: number
}

/** The macros over lists and over the keys of maps. Every element is paid for, so that no nesting gets past the cap. */
export function comprehensionRun(comprehension: Comprehension): Run {
  const { macro, range } = comprehension
  const overItems = MACRO_RUNS[macro](comprehension)
  return (c) => {
    const value = range(c)
    if (value === FAULT) return FAULT
    if (Array.isArray(value)) return overItems(c, value as readonly Value[])
    if (isMap(value)) {
      const keys = mapKeys(c, value)
      return keys === FAULT ? FAULT : overItems(c, keys)
    }
    return fail(c, `${macro}() needs a list or a map, not ${typeWord(value)}`)
  }
}

type OverItems = (c: Context, items: readonly Value[]) => Result

const MACRO_RUNS: Readonly<Record<Macro, (comprehension: Comprehension) => OverItems>> = {
  all: (comprehension) => quantifier(comprehension, false),
  exists: (comprehension) => quantifier(comprehension, true),
  exists_one:
    ({ slot, steps, where }) =>
    (c, items) => {
      let found = 0
      for (const item of items) {
        const holds = condition(c, slot, steps, where as Run, item, 'exists_one')
        if (holds === FAULT) return FAULT
        if (holds) found++
      }
      return found === 1
    },
  filter:
    ({ slot, steps, where }) =>
    (c, items) => {
      const kept: Value[] = []
      for (const item of items) {
        const holds = condition(c, slot, steps, where as Run, item, 'filter')
        if (holds === FAULT) return FAULT
        if (holds) kept.push(item)
      }
      return kept
    },
  map:
    ({ slot, steps, where, into }) =>
    (c, items) => {
      const made: Value[] = []
      for (const item of items) {
        const holds = where === null ? take(c, slot, steps, item) : condition(c, slot, steps, where, item, 'map')
        if (holds === FAULT) return FAULT
        if (!holds) continue
        const value = (into as Run)(c)
        if (value === FAULT) return FAULT
        made.push(value)
      }
      return made
    },
}

/** `all` and `exists` are `&&` and `||` over the elements: one that decides does so even beside errors. */
function quantifier({ macro, slot, steps, where }: Comprehension, decisive: boolean): OverItems {
  const holds = where as Run
  return (c, items) => {
    let fault = ''
    for (let i = 0; i < items.length; i++) {
      if (spend(c, steps)) return overBudget(c)
      c.vars[slot] = items[i] as Value
      const value = holds(c)
      if (c.left < 0) return FAULT
      if (value === decisive) return decisive
      if (fault === '' && value !== !decisive) {
        fault = value === FAULT ? c.fault : notACondition(macro, value)
      }
    }
    return fault === '' ? !decisive : fail(c, fault)
  }
}

function take(c: Context, slot: number, steps: number, item: Value): true | typeof FAULT {
  if (spend(c, steps)) return overBudget(c)
  c.vars[slot] = item
  return true
}

function condition(
  c: Context,
  slot: number,
  steps: number,
  where: Run,
  item: Value,
  macro: Macro,
): boolean | typeof FAULT {
  if (take(c, slot, steps, item) === FAULT) return FAULT
  const value = where(c)
  if (value === true || value === false || value === FAULT) return value
  return fail(c, notACondition(macro, value))
}

function notACondition(macro: Macro, value: Value): string {
  return `${macro}() needs a condition, not ${typeWord(value)}`
}
