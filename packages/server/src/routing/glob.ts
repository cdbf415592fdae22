import { indexOfLinear } from '@sensorium/cel'

// Patterns over event types: `*` matches any run of characters, `?` one character, `[a-z]` and `[!a]` a class, and `\`
// escapes.
//
// A pattern is split at its stars into segments. The first and the last segment are anchored. Each segment between them
// is matched at its leftmost position, which is always right for stars and never needs backtracking. Finding a segment
// is linear too: literal segments by `indexOfLinear`, segments with `?` or classes bit-parallel (Shift-And), 32 pattern
// characters per machine word.

export interface Glob {
  readonly pattern: string
  /** The literal characters before the first special one; every match starts with them. */
  readonly literalPrefix: string
  /** The literal characters after the last special one; every match ends with them. */
  readonly literalSuffix: string
  /** The only type that matches, if the pattern has no special characters; else null. */
  readonly exact: string | null
  matches(type: string): boolean
}

/** One position of a pattern: a code point, any code point, or a class of code points. */
type Item = number | 'any' | CharClass

interface CharClass {
  readonly negated: boolean
  /** Pairs: first and last code point of each range. */
  readonly ranges: readonly number[]
}

export function compileGlob(pattern: string): Glob {
  const segments = parse(pattern)
  const first = segments[0] ?? []
  const special = first.findIndex((item) => typeof item !== 'number')
  const literalPrefix = text(special === -1 ? first : first.slice(0, special))
  const last = segments.at(-1) ?? []
  const literalSuffix = text(last.slice(last.findLastIndex((item) => typeof item !== 'number') + 1))
  const exact = segments.length === 1 && special === -1 ? literalPrefix : null
  const literal = segments.every((segment) => segment.every((item) => typeof item === 'number'))
  return {
    pattern,
    literalPrefix,
    literalSuffix,
    exact,
    matches: literal ? literalMatcher(segments.map(text)) : itemMatcher(segments),
  }
}

/**
 * Returns the segments between stars, at least one. A star at either end of the pattern adds an empty segment there.
 */
function parse(pattern: string): Item[][] {
  const points = Array.from(pattern, (char) => char.codePointAt(0) as number)
  let segment: Item[] = []
  const segments = [segment]
  // If one bracket is not closed, no later one is. Remembering that avoids scanning the rest again for each bracket.
  let unclosed = false
  for (let i = 0; i < points.length; i++) {
    const point = points[i] as number
    if (point === STAR) {
      // A run of stars is one star: only the anchored ends may be empty.
      if (segment.length > 0 || segments.length === 1) segments.push((segment = []))
    } else if (point === QUESTION) {
      segment.push('any')
    } else if (point === BACKSLASH && i + 1 < points.length) {
      segment.push(points[++i] as number)
    } else if (point === BRACKET && !unclosed) {
      const parsed = parseClass(points, i + 1)
      if (parsed === null) {
        unclosed = true
        segment.push(point)
      } else {
        segment.push(parsed.charClass)
        i = parsed.end
      }
    } else {
      segment.push(point)
    }
  }
  return segments
}

const STAR = 0x2a
const QUESTION = 0x3f
const BACKSLASH = 0x5c
const BRACKET = 0x5b
const END_BRACKET = 0x5d
const BANG = 0x21
const DASH = 0x2d

/** Parses a class, starting after its `[`. Returns null if no `]` closes it. */
function parseClass(points: readonly number[], start: number): { charClass: CharClass; end: number } | null {
  const ranges: number[] = []
  let i = start
  const negated = points[i] === BANG
  if (negated) i++
  const member = (): number => {
    if (points[i] === BACKSLASH && i + 1 < points.length) i++
    return points[i++] as number
  }
  for (let initial = true; i < points.length; initial = false) {
    // A `]` that comes first is a member, as in every shell.
    if (points[i] === END_BRACKET && !initial) return { charClass: { negated, ranges }, end: i }
    const low = member()
    const isRange = points[i] === DASH && i + 1 < points.length && points[i + 1] !== END_BRACKET
    if (isRange) i++
    ranges.push(low, isRange ? member() : low)
  }
  return null
}

function text(items: readonly Item[]): string {
  let out = ''
  for (const item of items) out += String.fromCodePoint(item as number)
  return out
}

function literalMatcher(segments: readonly string[]): (type: string) => boolean {
  const head = segments[0] ?? ''
  if (segments.length === 1) return (type) => type === head
  const tail = segments.at(-1) ?? ''
  const shortest = segments.reduce((sum, segment) => sum + segment.length, 0)
  if (segments.length === 2) {
    return (type) => type.length >= shortest && type.startsWith(head) && type.endsWith(tail)
  }
  const middle = segments.slice(1, -1)
  return (type) => {
    if (type.length < shortest || !type.startsWith(head) || !type.endsWith(tail)) return false
    let at = head.length
    for (const segment of middle) {
      const found = indexOfLinear(type, segment, at)
      if (found === -1) return false
      at = found + segment.length
    }
    return at <= type.length - tail.length
  }
}

function itemMatcher(segments: readonly Item[][]): (type: string) => boolean {
  const head = segments[0] ?? []
  const tail = segments.at(-1) ?? []
  const middle = segments.slice(1, -1).map(shiftAnd)
  const shortest = segments.reduce((sum, segment) => sum + segment.length, 0)
  const single = segments.length === 1
  return (type) => {
    const length = decode(type)
    if (length < shortest || (single && length !== shortest)) return false
    if (!matchesAt(head, 0) || (!single && !matchesAt(tail, length - tail.length))) return false
    const end = single ? length : length - tail.length
    let at = head.length
    for (const find of middle) {
      at = find(at, end)
      if (at === -1) return false
    }
    return true
  }
}

// The code points of the type being matched. Matching is synchronous, so one buffer serves every glob.
let decoded = new Uint32Array(256)

function decode(type: string): number {
  if (type.length > decoded.length) decoded = new Uint32Array(type.length)
  let length = 0
  for (let i = 0; i < type.length; i++) {
    const point = type.codePointAt(i) as number
    if (point > 0xffff) i++
    decoded[length++] = point
  }
  return length
}

function matchesAt(items: readonly Item[], at: number): boolean {
  for (let i = 0; i < items.length; i++) {
    if (!accepts(items[i] as Item, decoded[at + i] as number)) return false
  }
  return true
}

function accepts(item: Item, point: number): boolean {
  if (typeof item === 'number') return item === point
  if (item === 'any') return true
  const { ranges, negated } = item
  for (let i = 0; i < ranges.length; i += 2) {
    if (point >= (ranges[i] as number) && point <= (ranges[i + 1] as number)) return !negated
  }
  return negated
}

const REMEMBERED_MASKS = 512

/**
 * Returns a function that finds the leftmost occurrence of a segment in `decoded` between two indexes, and returns the
 * index after it, or -1. Bit i of the state says that the last i+1 characters read match the segment's first i+1
 * positions.
 */
function shiftAnd(items: readonly Item[]): (from: number, end: number) => number {
  const words = Math.ceil(items.length / 32)
  const goal = 1 << ((items.length - 1) % 32)
  const masks = new Map<number, Int32Array>()
  const state = new Int32Array(words)

  const maskOf = (point: number): Int32Array => {
    let mask = masks.get(point)
    if (mask === undefined) {
      mask = new Int32Array(words)
      for (let i = 0; i < items.length; i++) {
        if (accepts(items[i] as Item, point)) mask[i >> 5] = (mask[i >> 5] as number) | (1 << (i % 32))
      }
      if (masks.size >= REMEMBERED_MASKS) masks.clear()
      masks.set(point, mask)
    }
    return mask
  }

  return (from, end) => {
    state.fill(0)
    for (let at = from; at < end; at++) {
      const mask = maskOf(decoded[at] as number)
      let carry = 1
      for (let w = 0; w < words; w++) {
        const before = state[w] as number
        state[w] = ((before << 1) | carry) & (mask[w] as number)
        carry = before >>> 31
      }
      if (((state[words - 1] as number) & goal) !== 0) return at + 1
    }
    return -1
  }
}
