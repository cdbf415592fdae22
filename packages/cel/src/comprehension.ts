// Runs the macros over lists and maps: `all`, `exists`, `filter`, `map` and the others.
import type { Macro } from './ast.ts'
import { isMap, lookUp, mapKeys } from './compare.ts'
import { quote } from './errors.ts'
import {
  fail,
  FAULT,
  keyOf,
  overBudget,
  spend,
  typeWord,
  valueOfKey,
  type CelMap,
  type Context,
  type JsonObject,
  type Key,
  type Result,
  type Run,
  type Value,
} from './values.ts'

interface Comprehension {
  readonly macro: Macro
  readonly range: Run
  /** The index in `Context.vars` of the variable: the element of a list, or the key of a map. */
  readonly first: number
  /** With two variables, the first is the index or the key, and this has the element or the value. */
  readonly second: number | null
  readonly where: Run | null
  readonly into: Run | null
  /** The cost of one element. */
  readonly steps: number
}

/** The values to iterate over: the elements of a list, or the keys of a map. */
type Range = readonly Value[]
type OverRange = (c: Context, items: Range, map: CelMap | JsonObject | null) => Result

/** Compiles a macro over lists and maps. Every element is paid for, so that nesting cannot exceed the budget. */
export function comprehensionRun(comprehension: Comprehension): Run {
  const { macro, range } = comprehension
  const over = MACRO_RUNS[macro](comprehension)
  return (c) => {
    const value = range(c)
    if (value === FAULT) return FAULT
    if (Array.isArray(value)) return over(c, value as readonly Value[], null)
    if (isMap(value)) {
      const keys = mapKeys(c, value)
      return keys === FAULT ? FAULT : over(c, keys, value)
    }
    return fail(c, `${macro}() needs a list or a map, not ${typeWord(value)}`)
  }
}

const MACRO_RUNS: Readonly<Record<Macro, (comprehension: Comprehension) => OverRange>> = {
  all: (comprehension) => quantifier(comprehension, false),
  exists: (comprehension) => quantifier(comprehension, true),
  exists_one: (comprehension) => (c, items, map) => {
    let found = 0
    for (let i = 0; i < items.length; i++) {
      const holds = condition(c, comprehension, items, map, i)
      if (holds === FAULT) return FAULT
      if (holds) found++
    }
    return found === 1
  },
  filter: (comprehension) => (c, items, map) => {
    const kept: Value[] = []
    for (let i = 0; i < items.length; i++) {
      const holds = condition(c, comprehension, items, map, i)
      if (holds === FAULT) return FAULT
      if (holds) kept.push(items[i] as Value)
    }
    return kept
  },
  map: listOfResults,
  transformList: listOfResults,
  transformMap: (comprehension) =>
    mapOfResults(comprehension, (c, made, key, value) => {
      const found = keyOf(key)
      if (found === undefined) return fail(c, `${typeWord(key)} cannot be a key of a map`)
      made.set(found, value)
      return null
    }),
  transformMapEntry: (comprehension) => mapOfResults(comprehension, addEntries),
}

function listOfResults(comprehension: Comprehension): OverRange {
  const into = comprehension.into as Run
  return (c, items, map) => {
    const made: Value[] = []
    for (let i = 0; i < items.length; i++) {
      const holds = condition(c, comprehension, items, map, i)
      if (holds === FAULT) return FAULT
      if (!holds) continue
      const value = into(c)
      if (value === FAULT) return FAULT
      made.push(value)
    }
    return made
  }
}

/**
 * The cost of an entry of a map that is made: its key is written as text and hashed, and the map grows. That takes 0.1
 * to 0.2 microseconds.
 */
const ENTRY_STEPS = 10

type Put = (c: Context, made: Map<Key, Value>, key: Value, value: Value) => typeof FAULT | null

function mapOfResults(comprehension: Comprehension, put: Put): OverRange {
  const into = comprehension.into as Run
  return (c, items, map) => {
    const made = new Map<Key, Value>()
    for (let i = 0; i < items.length; i++) {
      const holds = condition(c, comprehension, items, map, i)
      if (holds === FAULT) return FAULT
      if (!holds) continue
      const value = into(c)
      if (value === FAULT) return FAULT
      if (spend(c, ENTRY_STEPS)) return overBudget(c)
      if (put(c, made, map === null ? i : (items[i] as Value), value) === FAULT) return FAULT
    }
    return made
  }
}

/** Adds the entries of the map that was made for one element. */
function addEntries(c: Context, made: Map<Key, Value>, _key: Value, entries: Value): typeof FAULT | null {
  if (!isMap(entries)) return fail(c, `transformMapEntry() needs a map, not ${typeWord(entries)}`)
  if (entries instanceof Map) {
    if (spend(c, entries.size * ENTRY_STEPS)) return overBudget(c)
    for (const [key, value] of entries as CelMap) if (addEntry(c, made, key, value) === FAULT) return FAULT
    return null
  }
  const keys = mapKeys(c, entries)
  if (keys === FAULT || spend(c, keys.length * ENTRY_STEPS)) return overBudget(c)
  for (const key of keys) {
    if (addEntry(c, made, keyOf(key) as Key, lookUp(entries, key) as Value) === FAULT) return FAULT
  }
  return null
}

function addEntry(c: Context, made: Map<Key, Value>, key: Key, value: Value): typeof FAULT | null {
  if (made.has(key)) return fail(c, `key ${quote(String(valueOfKey(key)))} stands twice in a map`)
  made.set(key, value)
  return null
}

/** `all` and `exists` are `&&` and `||` over the elements: a deciding element wins even if others fail. */
function quantifier(comprehension: Comprehension, decisive: boolean): OverRange {
  const { macro, steps } = comprehension
  const holds = comprehension.where as Run
  return (c, items, map) => {
    let fault = ''
    for (let i = 0; i < items.length; i++) {
      if (spend(c, steps)) return overBudget(c)
      setVariables(c, comprehension, items, map, i)
      const value = holds(c)
      if (c.stepsLeft < 0) return FAULT
      if (value === decisive) return decisive
      if (fault === '' && value !== !decisive) {
        fault = value === FAULT ? c.fault : notACondition(macro, value)
      }
    }
    return fault === '' ? !decisive : fail(c, fault)
  }
}

/** Sets the variables for one element. */
function setVariables(
  c: Context,
  { first, second }: Comprehension,
  items: Range,
  map: CelMap | JsonObject | null,
  i: number,
): void {
  const item = items[i] as Value
  if (second === null) c.vars[first] = item
  else {
    c.vars[first] = map === null ? i : item
    c.vars[second] = map === null ? item : lookUp(map, item)
  }
}

/** Reports whether an element meets the condition; always true without a condition. */
function condition(
  c: Context,
  comprehension: Comprehension,
  items: Range,
  map: CelMap | JsonObject | null,
  i: number,
): boolean | typeof FAULT {
  if (spend(c, comprehension.steps)) return overBudget(c)
  setVariables(c, comprehension, items, map, i)
  if (comprehension.where === null) return true
  const value = comprehension.where(c)
  if (value === true || value === false || value === FAULT) return value
  return fail(c, notACondition(comprehension.macro, value))
}

function notACondition(macro: Macro, value: Value): string {
  return `${macro}() needs a condition, not ${typeWord(value)}`
}
