// `matches` searches with RE2, whose time is linear in the text: at most its length times the size of the compiled
// pattern. Both factors are bounded here, and the actual work of a search is paid for as it is done.
import { RE2Set } from 're2js'
import { Automaton } from './automaton.ts'
import { indexOfLinear } from './index-of.ts'
import { patternCost } from './regex-cost.ts'
import { fail, overBudget, spend, spendChars, typeWord, type Context, type Result, type Value } from './values.ts'

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
  if (patternCost(source).instructions > MAX_ESTIMATE) return 'regular expression too large'
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

/** The steps that compiling a pattern costs at least, for each instruction, and for each character of a class. */
const COMPILE_STEPS = 8000
const COMPILE_STEPS_PER_INSTRUCTION = 30
const COMPILE_STEPS_PER_CHARACTER = 5

/** `matches` with a pattern that is known only when an event is evaluated. */
export function matchesDynamic(c: Context, text: Value, source: Value | undefined): Result {
  if (typeof text !== 'string' || typeof source !== 'string') {
    return fail(c, `matches() cannot be applied to ${typeWord(text)} and ${typeWord(source ?? null)}`)
  }
  if (source.length > MAX_DYNAMIC_CHARS) return fail(c, 'regular expression too large')
  // Paid for whether or not it is cached, so that the result never depends on earlier evaluations.
  if (source !== c.pattern) {
    if (spend(c, COMPILE_STEPS)) return overBudget(c)
    const { instructions, characters } = patternCost(source)
    if (spend(c, instructions * COMPILE_STEPS_PER_INSTRUCTION)) return overBudget(c)
    if (spend(c, characters * COMPILE_STEPS_PER_CHARACTER)) return overBudget(c)
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
