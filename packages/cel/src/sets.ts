// `sets.*` over lists. Every comparison of two elements is paid for, as with `in`.
import { contains } from './compare.ts'
import { functionOf, type Definitions, type Fn } from './definition.ts'
import { mistyped } from './strings.ts'
import { FAULT, overBudget, spend, type Context, type Value } from './values.ts'

/** Looks for each element of `wanted` in `list`, up to the first that is found (`stopAt` true) or missing (false). */
function search(c: Context, list: Value, wanted: readonly Value[], stopAt: boolean): boolean | typeof FAULT {
  for (const item of wanted) {
    if (spend(c, 1)) return overBudget(c)
    const found = contains(c, item, list)
    if (found === FAULT) return FAULT
    if (found === stopAt) return stopAt
  }
  return !stopAt
}

const containsAny = (c: Context, list: Value, wanted: readonly Value[]) => search(c, list, wanted, true)
const containsAll = (c: Context, list: Value, wanted: readonly Value[]) => search(c, list, wanted, false)

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
  ['sets.contains', functionOf(overLists('sets.contains', containsAll), 2)],
  [
    'sets.intersects',
    functionOf(
      overLists('sets.intersects', (c, a, b) => containsAny(c, b, a)),
      2,
    ),
  ],
  [
    'sets.equivalent',
    functionOf(
      overLists('sets.equivalent', (c, a, b) => {
        const within = containsAll(c, b, a)
        return within === true ? containsAll(c, a, b) : within
      }),
      2,
    ),
  ],
]
