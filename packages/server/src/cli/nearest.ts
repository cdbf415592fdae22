// Finds the name that was probably meant by a misspelt one.

/** Returns how many letters must be added, removed, changed or swapped with a neighbour to turn one into the other. */
function distance(a: string, b: string): number {
  let [before, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, i) => i)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const changed = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      row[j] = Math.min(row[j - 1]! + 1, last[j]! + 1, changed)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        row[j] = Math.min(row[j]!, before[j - 2]! + 1)
    }
    ;[before, last] = [last, row]
  }
  return last[b.length]!
}

/** A slip of the fingers changes no more letters than this; beyond it, another word was meant. */
const MOST_CHANGED = 2

/** Returns the nearest name, or null if none is near: at most two letters and a third of all may differ. */
export function nearest(given: string, names: readonly string[]): string | null {
  const short = given.slice(0, 40)
  const near = names
    .map((name) => ({ name, changed: distance(short, name) }))
    .filter(({ name, changed }) => changed <= MOST_CHANGED && changed <= name.length / 3)
    .sort((a, b) => a.changed - b.changed)
  return near[0]?.name ?? null
}
