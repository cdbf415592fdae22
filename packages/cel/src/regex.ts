import { RE2Set } from 're2js'
import { Automaton } from './automaton.ts'
import { indexOfLinear } from './index-of.ts'
import { fail, overBudget, spend, spendChars, typeWord, type Context, type Result, type Value } from './values.ts'

// `matches` searches with RE2, whose time is linear in the text: at most its length times the size of the compiled
// pattern. Both factors are bounded here, and the actual work of a search is paid for as it is done.

/** The most instructions of a compiled pattern. A word of ten letters has ten, `x{100}` a hundred. */
const MAX_PROGRAM = 1500
/** A pattern with a larger estimate is not even given to the compiler. */
const MAX_ESTIMATE = 4 * MAX_PROGRAM
/** For patterns that are part of an event. A pattern in the filter itself is bounded by the length of the filter. */
const MAX_DYNAMIC_CHARS = 512

export interface Pattern {
  /** The most memory that it can take. */
  readonly bytes: number
  search(c: Context, text: string): Result
}

/** Returns the compiled pattern, or the message why it cannot be compiled. */
export function compilePattern(source: string): Pattern | string {
  const words = literalAlternatives(source)
  if (words !== null) return literalPattern(words)
  if (estimate(source) > MAX_ESTIMATE) return 'regular expression too large'
  try {
    const set = new RE2Set(RE2Set.UNANCHORED, 0)
    set.add(source)
    set.compile()
    return set.prog.numInst() > MAX_PROGRAM ? 'regular expression too large' : new Automaton(set)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return `invalid regular expression: ${message.replace(/^error parsing regexp: /, '')}`
  }
}

// Patterns from events, in the order of their last use. The oldest are evicted when all together are too large.
const cache = new Map<string, Pattern | string>()
const MAX_CACHED_BYTES = 4 * 1024 * 1024
let cachedBytes = 0
const bytesOf = (source: string, pattern: Pattern | string): number =>
  200 + 2 * source.length + (typeof pattern === 'string' ? 2 * pattern.length : pattern.bytes)

function remembered(source: string): Pattern | string {
  let pattern = cache.get(source)
  if (pattern === undefined) cachedBytes += bytesOf(source, (pattern = compilePattern(source)))
  else cache.delete(source)
  cache.set(source, pattern)
  for (const [oldest, kept] of cache) {
    if (cachedBytes <= MAX_CACHED_BYTES) break
    cache.delete(oldest)
    cachedBytes -= bytesOf(oldest, kept)
  }
  return pattern
}

/** The steps that compiling a pattern costs at least, and for each instruction. */
const COMPILE_STEPS = 8000
const COMPILE_STEPS_PER_INSTRUCTION = 30

/** `matches` with a pattern that is known only when an event is evaluated. */
export function matchesDynamic(c: Context, text: Value, source: Value | undefined): Result {
  if (typeof text !== 'string' || typeof source !== 'string') {
    return fail(c, `matches() cannot be applied to ${typeWord(text)} and ${typeWord(source ?? null)}`)
  }
  if (source.length > MAX_DYNAMIC_CHARS) return fail(c, 'regular expression too large')
  // Paid for whether or not it is cached, so that the result never depends on earlier evaluations.
  if (source !== c.pattern) {
    if (spend(c, COMPILE_STEPS)) return overBudget(c)
    if (spend(c, estimate(source) * COMPILE_STEPS_PER_INSTRUCTION)) return overBudget(c)
    c.pattern = source
  }
  const pattern = remembered(source)
  return typeof pattern === 'string' ? fail(c, pattern) : pattern.search(c, text)
}

interface Literal {
  readonly text: string
  readonly start: boolean
  readonly end: boolean
}

const LITERAL = /^(\^?)((?:[^\\.+*?()[\]{}|^$]|\\(?![A-Za-z0-9])[\0-\x7f])*)(\$?)$/su

/** Returns the words of a pattern such as `^order\.`, `paid$` or `error|warn`, which needs no automaton; else null. */
function literalAlternatives(source: string): Literal[] | null {
  const literals: Literal[] = []
  // A `|` after a backslash leaves a lone backslash at the end of its piece, which LITERAL does not match.
  for (const alternative of source.split('|')) {
    const found = LITERAL.exec(alternative)
    if (found === null || literals.length === 16) return null
    const text = (found[2] as string).replace(/\\(.)/gsu, '$1')
    literals.push({ text, start: found[1] === '^', end: found[3] === '$' })
  }
  return literals
}

function literalPattern(literals: readonly Literal[]): Pattern {
  return {
    bytes: 200 + literals.reduce((sum, { text }) => sum + 100 + 2 * text.length, 0),
    search(c, text) {
      for (const literal of literals) {
        const read = literal.start || literal.end ? literal.text.length : text.length + literal.text.length
        if (spendChars(c, read)) return overBudget(c)
        if (found(literal, text)) return true
      }
      return false
    },
  }
}

function found({ text: word, start, end }: Literal, text: string): boolean {
  if (start) return end ? text === word : text.startsWith(word)
  return end ? text.endsWith(word) : indexOfLinear(text, word) !== -1
}

/** A class such as `\p{L}` has hundreds of ranges and takes as long to compile as this many characters. */
const UNICODE_CLASS = 50
const REPEAT = /\{(\d{1,4})(,(\d{0,4}))?\}/y
const ESCAPE = /\\(?:[pP]\{[^}]*\}|x\{[^}]*\}|[\s\S])/y

/**
 * Estimates from its text how many instructions a pattern compiles to. The compiler expands counted repetitions, so a
 * hundred characters can produce a hundred thousand instructions and take a second to compile.
 */
function estimate(source: string): number {
  const groups: number[] = [0]
  let atom = 0
  const add = (size: number): void => {
    atom = size
    groups[groups.length - 1] = (groups.at(-1) ?? 0) + size
  }
  for (let i = 0; i < source.length; ) {
    const take = (pattern: RegExp): RegExpExecArray | null => {
      pattern.lastIndex = i
      const match = pattern.exec(source)
      if (match !== null) i += match[0].length
      return match
    }
    if (source.startsWith('\\Q', i)) {
      const end = source.indexOf('\\E', i + 2)
      add((end === -1 ? source.length : end) - i)
      i = end === -1 ? source.length : end + 2
    } else if (source[i] === '\\') {
      const [single] = take(ESCAPE) ?? [source[i++] as string]
      add(isUnicodeClass(single) ? UNICODE_CLASS : 1)
    } else if (source[i] === '[') {
      const end = classEnd(source, i)
      add(isUnicodeClass(source.slice(i, end)) ? UNICODE_CLASS : 1)
      i = end
    } else if (source[i] === '(') {
      groups.push(2)
      i++
    } else if (source[i] === ')' && groups.length > 1) {
      add(groups.pop() as number)
      i++
    } else {
      const repeat = take(REPEAT)
      if (repeat === null) {
        add(1)
        i++
      } else {
        const copies = Math.max(Number(repeat[1]), Number(repeat[3] || 0), 1)
        const size = atom
        add(size * (copies - 1) * 2)
        atom = size * copies * 2
      }
    }
  }
  return groups.reduce((sum, size) => sum + size, 0)
}

function isUnicodeClass(part: string): boolean {
  return part.includes('\\p') || part.includes('\\P')
}

/** Returns the end of the class that opens at `start`. By hand, because a regular expression would backtrack. */
function classEnd(source: string, start: number): number {
  let i = start + 1
  if (source[i] === '^') i++
  if (source[i] === ']') i++
  while (i < source.length && source[i] !== ']') {
    const named = source.startsWith('[:', i) ? source.indexOf(':]', i + 2) : -1
    if (named !== -1 && named - i < 16) i = named + 2
    else i += source[i] === '\\' ? 2 : 1
  }
  return Math.min(i + 1, source.length)
}
