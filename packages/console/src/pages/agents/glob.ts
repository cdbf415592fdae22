// Patterns over event types as the service reads them: `*` any run of characters, `?` one, `[a-z]` and `[!a]` a class,
// `\\` an escape. The service's own matcher is linear for hostile patterns; this one is for patterns that a user types.

/**
 * Characters, as ranges of code points. The last of a range may be below its first, as in `[z-a]`: it is empty then.
 */
export interface CharClass {
  readonly isNegated: boolean
  readonly ranges: readonly (readonly [first: number, last: number])[]
}

/** A part of a pattern. A literal character is a class of one. */
type GlobItem = '*' | '?' | CharClass

/** Returns a class such as `[a-z_]` and its end, or null if the bracket is not closed and therefore literal. */
function classAt(pattern: readonly string[], start: number): { item: CharClass; end: number } | null {
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
    if (pattern[i] === ']' && i > first) return { item: { isNegated, ranges }, end: i }
    const low = member()
    const isRange = pattern[i] === '-' && i + 1 < pattern.length && pattern[i + 1] !== ']'
    if (isRange) i++
    ranges.push([low, isRange ? member() : low])
  }
  return null
}

export function parseGlob(glob: string): GlobItem[] {
  const pattern = [...glob]
  const items: GlobItem[] = []
  for (let i = 0; i < pattern.length; i++) {
    const character = pattern[i]!
    const found = character === '[' ? classAt(pattern, i) : null
    if (character === '*' || character === '?') items.push(character)
    else if (found !== null) {
      items.push(found.item)
      i = found.end
    } else {
      const literal = (character === '\\' && i + 1 < pattern.length ? pattern[++i]! : character).codePointAt(0)!
      items.push({ isNegated: false, ranges: [[literal, literal]] })
    }
  }
  return items
}

function isIn({ isNegated, ranges }: CharClass, character: string): boolean {
  const point = character.codePointAt(0)!
  return ranges.some(([first, last]) => first <= point && point <= last) !== isNegated
}

/** Whether the pattern matches the whole type. */
export function globMatches(glob: string, type: string): boolean {
  const items = parseGlob(glob)
  const text = [...type]
  let at = 0
  let item = 0
  /** The position of the last star, and the end of the text that it has matched. */
  let star = -1
  let taken = 0
  while (at < text.length) {
    const wanted = items[item]
    if (wanted === '*') {
      star = item++
      taken = at
    } else if (wanted === '?' || (wanted !== undefined && isIn(wanted, text[at]!))) {
      item++
      at++
    } else if (star >= 0) {
      item = star + 1
      at = ++taken
    } else return false
  }
  return items.slice(item).every((rest) => rest === '*')
}

/** Returns the pattern that matches this type alone: publishers choose types, and `*` is one. */
export const exactGlob = (type: string): string => type.replace(/[*?[\\]/g, '\\$&')
