// Estimates from its text what a regular expression costs to compile, so that a costly one is never given to the
// compiler. Reads the pattern as RE2's parser does: what it takes for the operand of a repetition decides the size.

interface PatternCost {
  /**
   * Instructions of the compiled pattern, at least. The compiler expands counted repetitions, so a hundred characters
   * can produce a hundred thousand instructions and take a second to compile.
   */
  readonly instructions: number
  /**
   * Characters of classes that the parser takes one by one, about 50 ns each. With `(?i)` it looks up the other case of
   * every character between the ends of a range, so that six characters can take 6 ms.
   */
  readonly characters: number
}

/** Measured: `\p{L}` has hundreds of ranges. A copy takes as long as this many instructions. */
const UNICODE_CLASS = 20
/** The same for parsing it once, in characters, without and with `(?i)`. */
const UNICODE_CHARACTERS = 1200
const FOLDED_UNICODE_CHARACTERS = 4000
/** A copy of a class with this many characters takes as long as another instruction. */
const CHARACTERS_PER_INSTRUCTION = 16
/** The first and the last character that has another case. */
const MIN_FOLD = 0x41
const MAX_FOLD = 0x1e943

const REPEAT = /\{(\d{1,4})(,(\d{0,4}))?\}/y
const ESCAPE = /\\(?:[pP](?:\{[^}]*\}|[\s\S])|x\{[^}]*\}|[\s\S])/y
/** Flags such as `(?i)` or `(?)`, which are no operand. */
const FLAGS = /\(\?[imsU-]*\)/y
const FOLDS = /\(\?[msU]*i/
const UNICODE = /\\[pP](?:\{[^}]*\}|[\s\S])/y
/** Classes inside of a class, which are never the end of a range. */
const INNER_CLASS = /\[:\^?\w{1,10}:\]|\\[dDsSwW]/y
const CLASS_CHARACTER = /\\x\{([0-9a-fA-F]+)\}|\\x([0-9a-fA-F]{2})|\\([0-7]{1,3})|\\?([\s\S])/uy

export function patternCost(source: string): PatternCost {
  const folds = FOLDS.test(source)
  const groups: number[] = [0]
  let characters = 0
  // What a repetition that comes next repeats.
  let operand = 0
  const grow = (size: number): void => {
    groups[groups.length - 1] = (groups.at(-1) as number) + size
  }
  const add = (size: number): void => {
    operand = size
    grow(size)
  }
  for (let i = 0; i < source.length; ) {
    const take = (pattern: RegExp): RegExpExecArray | null => {
      pattern.lastIndex = i
      const match = pattern.exec(source)
      if (match !== null) i += match[0].length
      return match
    }
    const char = source[i] as string
    if (source.startsWith('\\Q', i)) {
      const end = source.indexOf('\\E', i + 2)
      const length = (end === -1 ? source.length : end) - i - 2
      // A repetition applies to the last character, and with none to what stands before.
      if (length > 0) add(1)
      grow(Math.max(0, length - 1))
      i = end === -1 ? source.length : end + 2
    } else if (char === '\\') {
      const [escaped] = take(ESCAPE) ?? [source[i++] as string]
      const isUnicode = /^\\[pP]/.test(escaped)
      if (isUnicode) characters += folds ? FOLDED_UNICODE_CHARACTERS : UNICODE_CHARACTERS
      add(isUnicode ? UNICODE_CLASS : 1)
    } else if (char === '[') {
      const read = readClass(source, i, folds)
      characters += read.characters
      add(1 + Math.floor((read.end - i - 2) / CHARACTERS_PER_INSTRUCTION) + (read.hasUnicode ? UNICODE_CLASS : 0))
      i = read.end
    } else if (char === '(') {
      if (take(FLAGS) !== null) continue
      groups.push(2)
      i++
    } else if (char === ')' && groups.length > 1) {
      add(groups.pop() as number)
      i++
    } else if (char === '*' || char === '+' || char === '?') {
      grow(1)
      operand += 1
      i++
    } else {
      const repeat = take(REPEAT)
      if (repeat === null) {
        add(1)
        i++
      } else {
        const copies = Math.max(Number(repeat[1]), Number(repeat[3] || 0), 1)
        grow(operand * (copies - 1) * 2)
        operand *= copies * 2
      }
    }
  }
  return { instructions: groups.reduce((sum, size) => sum + size, 0), characters }
}

interface ReadClass {
  readonly end: number
  readonly characters: number
  readonly hasUnicode: boolean
}

/** Reads the class that opens at `start`. By hand, because one regular expression for all of it would backtrack. */
function readClass(source: string, start: number, folds: boolean): ReadClass {
  let characters = 0
  let hasUnicode = false
  let i = start + (source[start + 1] === '^' ? 2 : 1)
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = i
    const match = pattern.exec(source)
    if (match !== null) i += match[0].length
    return match
  }
  // A `]` at the beginning stands for itself.
  for (const first = i; i < source.length && (source[i] !== ']' || i === first); ) {
    if (take(INNER_CLASS) !== null) characters++
    else if (take(UNICODE) !== null) {
      hasUnicode = true
      characters += folds ? FOLDED_UNICODE_CHARACTERS : UNICODE_CHARACTERS
    } else {
      const low = codePointOf(take(CLASS_CHARACTER))
      const isRange = source[i] === '-' && i + 1 < source.length && source[i + 1] !== ']'
      if (isRange) i++
      const high = isRange ? codePointOf(take(CLASS_CHARACTER)) : low
      characters += folds ? 1 + Math.max(0, Math.min(high, MAX_FOLD) - Math.max(low, MIN_FOLD)) : 1
    }
  }
  return { end: Math.min(i + 1, source.length), characters, hasUnicode }
}

function codePointOf(found: RegExpExecArray | null): number {
  const [, braced, hex, octal, plain] = found ?? []
  if (octal !== undefined) return Number.parseInt(octal, 8)
  return plain === undefined ? Number.parseInt(braced ?? hex ?? '0', 16) : (plain.codePointAt(0) as number)
}
