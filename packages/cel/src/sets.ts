import { contains } from './compare.ts'
import { functionOf, type Definitions, type Fn } from './definition.ts'
import { mistyped } from './strings.ts'
import { FAULT, overBudget, spend, type Context, type Value } from './values.ts'

// `sets.*` over lists. Every comparison of two elements is paid for, as with `in`.

/**
 * Reports whether any element of `wanted` is in `list` (`stopAt` true), or whether all of them are (`stopAt` false).
 * Stops at the first element that decides it.
 */
function find(c: Context, wanted: readonly Value[], list: Value, stopAt: boolean): boolean | typeof FAULT {
  for (const item of wanted) {
    if (spend(c, 1)) return overBudget(c)
    const found = contains(c, item, list)
    if (found === FAULT) return FAULT
    if (found === stopAt) return stopAt
  }
  return !stopAt
}

function overLists(
  name: string,
  decide: (c: Context, a: readonly Value[], b: readonly Value[]) => boolean | typeof FAULT,
): Fn {
  return (c, a, b) => {
    if (!Array.isArray(a) || !Array.isArray(b)) return mistyped(c, name, a, b)
    return decide(c, a as readonly Value[], b as readonly Value[])
  }
}

export const SET_FUNCTIONS: Definitions = [
  [
    'sets.contains',
    functionOf(
      overLists('sets.contains', (c, a, b) => find(c, b, a, false)),
      2,
    ),
  ],
  [
    'sets.intersects',
    functionOf(
      overLists('sets.intersects', (c, a, b) => find(c, a, b, true)),
      2,
    ),
  ],
  [
    'sets.equivalent',
    functionOf(
      overLists('sets.equivalent', (c, a, b) => {
        const within = find(c, a, b, false)
        return within === true ? find(c, b, a, false) : within
      }),
      2,
    ),
  ],
]
