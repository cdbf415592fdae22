// Finds the name that was probably meant by a misspelt one.
import { editDistance } from '../kernel/edit-distance.ts'

/** A slip of the fingers changes no more letters than this; beyond it, another word was meant. */
const MOST_CHANGED = 2

/** Returns the nearest name, or null if none is near: at most two letters and a third of all may differ. */
export function nearest(given: string, names: readonly string[]): string | null {
  const short = given.slice(0, 40)
  const near = names
    .map((name) => ({ name, changed: editDistance(short, name) }))
    .filter(({ name, changed }) => changed <= MOST_CHANGED && changed <= name.length / 3)
    .sort((a, b) => a.changed - b.changed)
  return near[0]?.name ?? null
}
