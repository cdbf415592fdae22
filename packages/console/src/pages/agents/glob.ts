// Patterns over event types as the service reads them: `*` any run of characters, `?` one, `[a-z]` and `[!a]` a class,
// `\\` an escape. The service's own matcher is linear for hostile patterns; this one is for patterns that a user types.

type Item = (character: string) => boolean
const STAR = null

/** Returns a class such as `[a-z_]` and its end, or null if the bracket is not closed and therefore literal. */
function classAt(pattern: readonly string[], start: number): { item: Item; end: number } | null {
  const isNegated = pattern[start + 1] === '!'
  const first = start + (isNegated ? 2 : 1)
  const ranges: [number, number][] = []
  let i = first
  const member = (): number => {
    if (pattern[i] === '\\' && i + 1 < pattern.length) i++
    return pattern[i++]!.codePointAt(0)!
  }
  while (i < pattern.length) {
    // A leading `]` is a member of the class.
    if (pattern[i] === ']' && i > first) {
      const item: Item = (character) => {
        const point = character.codePointAt(0)!
        return ranges.some(([low, high]) => low <= point && point <= high) !== isNegated
      }
      return { item, end: i }
    }
    const low = member()
    const isRange = pattern[i] === '-' && i + 1 < pattern.length && pattern[i + 1] !== ']'
    if (isRange) i++
    ranges.push([low, isRange ? member() : low])
  }
  return null
}

function itemsOf(pattern: readonly string[]): (Item | null)[] {
  const items: (Item | null)[] = []
  for (let i = 0; i < pattern.length; i++) {
    const character = pattern[i]!
    const found = character === '[' ? classAt(pattern, i) : null
    if (character === '*') items.push(STAR)
    else if (character === '?') items.push(() => true)
    else if (found !== null) {
      items.push(found.item)
      i = found.end
    } else {
      const literal = character === '\\' && i + 1 < pattern.length ? pattern[++i]! : character
      items.push((other) => other === literal)
    }
  }
  return items
}

/** Whether the pattern matches the whole type. */
export function globMatches(glob: string, type: string): boolean {
  const items = itemsOf([...glob])
  const text = [...type]
  let at = 0
  let item = 0
  /** The position of the last star, and the end of the text that it has matched. */
  let star = -1
  let taken = 0
  while (at < text.length) {
    const wanted = items[item]
    if (wanted === STAR) {
      star = item++
      taken = at
    } else if (wanted?.(text[at]!)) {
      item++
      at++
    } else if (star >= 0) {
      item = star + 1
      at = ++taken
    } else return false
  }
  return items.slice(item).every((rest) => rest === STAR)
}

/** Returns the pattern that matches this type alone: publishers choose types, and `*` is one. */
export const exactGlob = (type: string): string => type.replace(/[*?[\\]/g, '\\$&')
