// The type that patterns are tried on, and where a segment of a pattern occurs in it, 32 places per machine word.
//
// What can be computed ahead belongs to the type, once for all patterns that are tried on it. A pattern keeps nothing
// of the types: a tenant may have many thousand patterns, and its senders choose the types. (Rejected: Shift-And, whose
// masks belong to a pattern and a character. 10,000 patterns kept 2 GB of them, and a new character took a
// millisecond.)

/** One position of a pattern: a code point, any code point, or a class of code points. */
export type GlobItem = number | 'any' | CharClass

export interface CharClass {
  readonly negated: boolean
  /** Pairs: first and last code point of each range. */
  readonly ranges: readonly number[]
}

/**
 * The type that patterns are tried on. Matching is synchronous, so one object serves every glob. A type has at most 255
 * characters, which take 10 KB in `upTo`.
 */
const tried = {
  type: '',
  /** Its code points, `length` of them. */
  points: new Uint32Array(256),
  length: 0,
  /** What follows is set only once a pattern needs it. */
  hasSets: false,
  /** Its different code points in ascending order, `different` of them. */
  sorted: new Uint32Array(256),
  different: 0,
  /** Sets of places, `words` words each and a bit for each place: set i has all places of the i lowest code points. */
  upTo: new Int32Array(256),
  words: 0,
}

/** Takes the type that the next calls are about. Returns its number of code points. */
export function decode(type: string): number {
  if (type === tried.type) return tried.length
  if (type.length > tried.points.length) tried.points = new Uint32Array(type.length)
  let length = 0
  for (let i = 0; i < type.length; i++) {
    const point = type.codePointAt(i) as number
    if (point > 0xffff) i++
    tried.points[length++] = point
  }
  tried.type = type
  tried.length = length
  tried.hasSets = false
  return length
}

function makeSets(): void {
  const { points, length } = tried
  if (length > tried.sorted.length) tried.sorted = new Uint32Array(length)
  tried.different = 0
  for (let i = 0; i < length; i++) addSorted(points[i] as number)
  // One more word, so that a set can be shifted without looking for its end.
  const words = (tried.words = (length >> 5) + 2)
  const size = (tried.different + 1) * words
  if (size > tried.upTo.length) tried.upTo = new Int32Array(size)
  else tried.upTo.fill(0, 0, size)
  const { upTo } = tried
  for (let i = 0; i < length; i++) {
    const word = (1 + countBelow(points[i] as number)) * words + (i >> 5)
    upTo[word] = (upTo[word] as number) | (1 << (i & 31))
  }
  for (let word = words; word < size; word++) upTo[word] = (upTo[word] as number) | (upTo[word - words] as number)
  if (words > starts.length) [starts, accepted] = [new Int32Array(words), new Int32Array(words)]
  tried.hasSets = true
}

function addSorted(point: number): void {
  const { sorted } = tried
  const at = countBelow(point)
  if (at < tried.different && sorted[at] === point) return
  for (let i = tried.different++; i > at; i--) sorted[i] = sorted[i - 1] as number
  sorted[at] = point
}

/** How many different code points of the type are below this one. */
function countBelow(point: number): number {
  const { sorted } = tried
  let low = 0
  for (let high = tried.different; low < high; ) {
    const middle = (low + high) >> 1
    if ((sorted[middle] as number) < point) low = middle + 1
    else high = middle
  }
  return low
}

export function matchesAt(items: readonly GlobItem[], at: number): boolean {
  for (let i = 0; i < items.length; i++) {
    if (!accepts(items[i] as GlobItem, tried.points[at + i] as number)) return false
  }
  return true
}

function accepts(item: GlobItem, point: number): boolean {
  if (typeof item === 'number') return item === point
  if (item === 'any') return true
  const { ranges, negated } = item
  for (let i = 0; i < ranges.length; i += 2) {
    if (point >= (ranges[i] as number) && point <= (ranges[i + 1] as number)) return !negated
  }
  return negated
}

/** The places at which the segment that is looked for may start, and those that one of its characters accepts. */
let starts = new Int32Array(16)
let accepted = new Int32Array(16)

/**
 * Finds the leftmost occurrence of a segment in the type between two indexes, and returns the index after it, or -1. It
 * begins with all places where the segment fits between the indexes, and removes those at which one of its characters
 * does not match.
 */
export function findSegment(items: readonly GlobItem[], from: number, end: number): number {
  const last = end - items.length
  if (last < from) return -1
  if (!tried.hasSets) makeSets()
  const [low, high] = [from >> 5, last >> 5]
  starts.fill(-1, low, high + 1)
  starts[low] = -1 << (from & 31)
  starts[high] = (starts[high] as number) & (-1 >>> (31 - (last & 31)))
  for (let i = 0; i < items.length; i++) {
    if (items[i] !== 'any' && !keepStarts(items[i] as number | CharClass, i, low, high)) return -1
  }
  for (let word = low; ; word++) {
    const set = starts[word] as number
    if (set !== 0) return 32 * word + 31 - Math.clz32(set & -set) + items.length
  }
}

/** Keeps the starts whose character `offset` places later is accepted. Returns whether any are left. */
function keepStarts(item: number | CharClass, offset: number, low: number, high: number): boolean {
  const skipped = offset >> 5
  accepted.fill(0, low + skipped, high + skipped + 2)
  if (typeof item === 'number') acceptRange(item, item, low + skipped, high + skipped + 1)
  else {
    for (let i = 0; i < item.ranges.length; i += 2)
      acceptRange(item.ranges[i] as number, item.ranges[i + 1] as number, low + skipped, high + skipped + 1)
  }
  const flip = typeof item !== 'number' && item.negated ? -1 : 0
  const shift = offset & 31
  let any = 0
  for (let word = low, at = low + skipped; word <= high; word++, at++) {
    // The upper part is shifted twice, because a shift by 32 is a shift by 0.
    const set = ((accepted[at] as number) >>> shift) | (((accepted[at + 1] as number) << 1) << (31 - shift))
    any |= starts[word] = (starts[word] as number) & (set ^ flip)
  }
  return any !== 0
}

/** Adds the places of the code points from `first` to `last` to the words `low` to `high` of `accepted`. */
function acceptRange(first: number, last: number, low: number, high: number): void {
  const { upTo, words } = tried
  const below = countBelow(first)
  const through = countBelow(last + 1)
  if (through <= below) return
  for (let word = low; word <= high; word++) {
    const more = (upTo[through * words + word] as number) ^ (upTo[below * words + word] as number)
    accepted[word] = (accepted[word] as number) | more
  }
}
