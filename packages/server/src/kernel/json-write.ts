// Writes a value as JSON in pieces, so that its writer can pause in between, or stop: JSON.stringify of a megabyte of
// `{}` blocks the event loop for 20 ms, and for 150 with a replacer, which whole numbers beyond 2^53 would need.
import { slicesOf } from './beginning-of.ts'

/** Characters of one piece: about a quarter of a millisecond of the smallest values there are. */
const PIECE = 4_096

/** An object or array whose end is not written yet. */
interface Open {
  holder: Readonly<Record<string | number, unknown>>
  /** The names of its members; null for an array. */
  names: readonly string[] | null
  length: number
  /** How many members were read, and whether one was written. */
  read: number
  isBegun: boolean
}

function openOf(value: unknown): Open | null {
  if (typeof value !== 'object' || value === null) return null
  const isArray = Array.isArray(value)
  // Other classes have their own way to JSON.
  if (!isArray && Object.getPrototypeOf(value) !== Object.prototype) return null
  const names = isArray ? null : Object.keys(value)
  const { length } = names ?? (value as unknown[])
  return { holder: value as Open['holder'], names, length, read: 0, isBegun: false }
}

export class TooDeep extends Error {}

/** Returns the text of a value that is not opened; undefined if JSON has none for it. */
const textOf = (value: unknown): string | undefined =>
  typeof value === 'bigint' ? String(value) : JSON.stringify(value)

/** Yields the JSON of a text in slices, none of which ends in the middle of a character. */
function* textPieces(text: string): Generator<string, void> {
  let before = '"'
  for (const slice of slicesOf(text, PIECE)) {
    yield before + JSON.stringify(slice).slice(1, -1)
    before = ''
  }
  yield '"'
}

const isLongText = (value: unknown): value is string => typeof value === 'string' && value.length > PIECE

/**
 * Yields the JSON of a value piece by piece, with whole numbers of any length. What JSON cannot express is null. Throws
 * TooDeep if it nests deeper than `maxDepth`.
 */
export function* jsonPieces(value: unknown, maxDepth = Infinity): Generator<string, void> {
  if (isLongText(value)) return yield* textPieces(value)
  const root = openOf(value)
  if (!root) return yield textOf(value) ?? 'null'
  const open = [root]
  let piece = root.names ? '{' : '['
  while (open.length > 0) {
    const top = open.at(-1)!
    if (top.read === top.length) {
      piece += top.names ? '}' : ']'
      open.pop()
      continue
    }
    const name = top.names?.[top.read]
    const part = top.holder[name ?? top.read]
    top.read++
    const inner = openOf(part)
    const isLong = isLongText(part)
    const text = isLong ? '' : inner ? (inner.names ? '{' : '[') : textOf(part)
    if (text === undefined && name !== undefined) continue
    piece += `${top.isBegun ? ',' : ''}${name === undefined ? '' : `${JSON.stringify(name)}:`}${text ?? 'null'}`
    top.isBegun = true
    if (inner && open.push(inner) > maxDepth) throw new TooDeep()
    if (isLong)
      for (const slice of textPieces(part)) {
        yield piece + slice
        piece = ''
      }
    if (piece.length >= PIECE) {
      yield piece
      piece = ''
    }
  }
  yield piece
}

/** Returns the JSON of a value, and yields between its pieces. Throws TooDeep if it nests deeper than `maxDepth`. */
export function* textSteps(value: unknown, maxDepth?: number): Generator<void, string> {
  const pieces: Buffer[] = []
  for (const piece of jsonPieces(value, maxDepth)) {
    if (pieces.length > 0) yield
    pieces.push(Buffer.from(piece))
  }
  return Buffer.concat(pieces).toString('utf8')
}
