// Reads a large JSON object in steps: its members are found and checked byte by byte, with a pause for everybody else
// after each stretch, and only those that somebody asks for become values. JSON.parse of 10 MB of `[]` holds the event
// loop for over a second and makes half a gigabyte of garbage; this makes none.
import { isUtf8 } from 'node:buffer'
import { MAX_DEPTH, wellFormed } from './json.ts'

/** A JSON object that is kept, stored and sent as the text it came as. */
export class JsonText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** The JSON text of what was sent: as it came, or of a value that a caller in process gave. */
export const jsonText = (value: unknown): string => (value instanceof JsonText ? value.text : JSON.stringify(value))

export interface MemberChoice {
  /** Names of the members that become values. The others are checked and left out. */
  names: ReadonlySet<string>
  /** Those of them whose objects stay text. */
  asText: ReadonlySet<string>
}

export type ReadMembers = { ok: true; value: unknown } | { ok: false; problem: string }

/** Bytes between two pauses: one to three milliseconds. */
const STRETCH = 65_536
/** A text of 32,768 characters, each written as two escapes. Nothing longer passes a check of its shape. */
const MAX_TEXT = 393_218
/** An object or array longer than this stands where none belongs: its kind is enough for the refusal. */
const MAX_VALUE = 4_096
/** Names that nobody asked for are shown, without their values, up to this many. */
const MAX_UNKNOWN = 16
const MAX_NAME = 256
/** May escape half a surrogate pair, which no store keeps. */
const HALF_PAIR = /\\u[dD]/

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const MINUS = 0x2d
const PLUS = 0x2b
const DOT = 0x2e
const ZERO = 0x30
const NINE = 0x39

const isSpace = (c: number): boolean => c === 0x20 || c === 0x0a || c === 0x0d || c === 0x09
const isDigit = (c: number | undefined): boolean => c !== undefined && c >= ZERO && c <= NINE
const isHex = (c: number | undefined): boolean =>
  isDigit(c) || (c !== undefined && ((c >= 0x41 && c <= 0x46) || (c >= 0x61 && c <= 0x66)))
// " \ / b f n r t
const ESCAPED = new Set([0x22, 0x5c, 0x2f, 0x62, 0x66, 0x6e, 0x72, 0x74])
const LITERALS = new Map([0x74, 0x66, 0x6e].map((c, i) => [c, Buffer.from(['true', 'false', 'null'][i]!)]))

class Broken extends Error {}

function fail(problem = 'valid JSON'): never {
  throw new Broken(problem)
}

interface Cursor {
  at: number
  /** Where the next pause is due. */
  pauseAt: number
}

function skipSpace(bytes: Buffer, cursor: Cursor): void {
  let i = cursor.at
  while (i < bytes.length && isSpace(bytes[i]!)) i++
  cursor.at = i
}

/** To the end of a string whose opening quote is at the cursor: without a pause, 10 MB take some 15 ms. */
function skipString(bytes: Buffer, cursor: Cursor): void {
  let i = cursor.at + 1
  for (; ; i++) {
    const c = bytes[i]
    if (c === QUOTE) break
    if (c === undefined || c < 0x20) fail()
    if (c === BACKSLASH) {
      const escaped = bytes[++i]
      if (escaped === 0x75) {
        for (let digit = 1; digit <= 4; digit++) if (!isHex(bytes[i + digit])) fail()
        i += 4
      } else if (escaped === undefined || !ESCAPED.has(escaped)) fail()
    }
  }
  cursor.at = i + 1
}

/** Where a run of digits ends; there must be one. */
function afterDigits(bytes: Buffer, from: number): number {
  let i = from
  while (i < bytes.length && bytes[i]! >= ZERO && bytes[i]! <= NINE) i++
  return i > from ? i : fail()
}

function skipNumber(bytes: Buffer, cursor: Cursor): void {
  let i = cursor.at
  if (bytes[i] === MINUS) i++
  i = bytes[i] === ZERO ? i + 1 : afterDigits(bytes, i)
  if (bytes[i] === DOT) i = afterDigits(bytes, i + 1)
  if (bytes[i] === 0x65 || bytes[i] === 0x45) {
    i++
    i = afterDigits(bytes, bytes[i] === PLUS || bytes[i] === MINUS ? i + 1 : i)
  }
  cursor.at = i
}

/** To the end of a value that is neither object nor array. */
function skipScalar(bytes: Buffer, cursor: Cursor): void {
  const c = bytes[cursor.at]
  if (c === QUOTE) return skipString(bytes, cursor)
  if (c === undefined || c <= NINE) return skipNumber(bytes, cursor)
  const literal = LITERALS.get(c) ?? fail()
  if (!literal.equals(bytes.subarray(cursor.at, cursor.at + literal.length))) fail()
  cursor.at += literal.length
}

/** From a name of an object to its value; returns where the name begins and ends. */
function skipName(bytes: Buffer, cursor: Cursor): [number, number] {
  skipSpace(bytes, cursor)
  const start = cursor.at
  if (bytes[start] !== QUOTE) fail()
  skipString(bytes, cursor)
  const end = cursor.at
  skipSpace(bytes, cursor)
  if (bytes[cursor.at++] !== COLON) fail()
  skipSpace(bytes, cursor)
  return [start, end]
}

/** To the end of a value, `depth` containers down. One flat loop: 10 MB may be five million values. */
function* skipValue(bytes: Buffer, cursor: Cursor, depth: number): Generator<void, void> {
  const closing = new Uint8Array(MAX_DEPTH + 1) // the brackets that are still to come
  let open = 0
  for (;;) {
    if (cursor.at >= cursor.pauseAt) {
      cursor.pauseAt = cursor.at + STRETCH
      yield
    }
    const c = bytes[cursor.at]
    if (c === OPEN_OBJECT || c === OPEN_ARRAY) {
      if (depth + open >= MAX_DEPTH) fail(`JSON nested at most ${MAX_DEPTH} deep`)
      cursor.at++
      skipSpace(bytes, cursor)
      const close = c === OPEN_OBJECT ? CLOSE_OBJECT : CLOSE_ARRAY
      if (bytes[cursor.at] !== close) {
        closing[++open] = close
        if (c === OPEN_OBJECT) skipName(bytes, cursor)
        continue
      }
      cursor.at++
    } else skipScalar(bytes, cursor)
    // After a value: what closes, closes; a comma leads to the next one.
    for (;;) {
      if (open === 0) return
      skipSpace(bytes, cursor)
      const next = bytes[cursor.at++]
      if (next === COMMA) break
      if (next !== closing[open--]) fail()
    }
    if (closing[open] === CLOSE_OBJECT) skipName(bytes, cursor)
    else skipSpace(bytes, cursor)
  }
}

function memberValue(bytes: Buffer, start: number, end: number, asText: boolean): unknown {
  const first = bytes[start]
  if (asText && first === OPEN_OBJECT) return new JsonText(bytes.toString('utf8', start, end))
  if (first === OPEN_OBJECT && end - start > MAX_VALUE) return {}
  if (first === OPEN_ARRAY && end - start > MAX_VALUE) return []
  // Of a text that is too long anyway the beginning will do, which is too long as well.
  if (first === QUOTE && end - start > MAX_TEXT) return bytes.toString('latin1', start + 1, start + MAX_TEXT)
  const text = bytes.toString('utf8', start, end)
  const value: unknown = JSON.parse(text)
  return HALF_PAIR.test(text) ? wellFormed(value) : value
}

function* members(bytes: Buffer, { names, asText }: MemberChoice): Generator<void, unknown> {
  const cursor = { at: 0, pauseAt: STRETCH }
  const found = new Map<string, [start: number, end: number]>()
  const unknown = new Set<string>()
  skipSpace(bytes, cursor)
  const start = cursor.at
  const isObject = bytes[start] === OPEN_OBJECT
  if (isObject) {
    cursor.at++
    skipSpace(bytes, cursor)
    if (bytes[cursor.at] === CLOSE_OBJECT) cursor.at++
    else
      for (;;) {
        const [from, to] = skipName(bytes, cursor)
        const valueAt = cursor.at
        yield* skipValue(bytes, cursor, 1)
        if (to - from <= MAX_NAME) {
          const name = JSON.parse(bytes.toString('utf8', from, to)) as string
          if (names.has(name)) found.set(name, [valueAt, cursor.at])
          else if (unknown.size < MAX_UNKNOWN) unknown.add(name)
        }
        skipSpace(bytes, cursor)
        const next = bytes[cursor.at++]
        if (next === CLOSE_OBJECT) break
        if (next !== COMMA) fail()
      }
  } else yield* skipValue(bytes, cursor, 0)
  const end = cursor.at
  skipSpace(bytes, cursor)
  if (cursor.at < bytes.length) fail()
  if (!isObject) return memberValue(bytes, start, end, false)
  return Object.fromEntries<unknown>([
    ...Array.from(unknown, (name): [string, unknown] => [name, null]),
    ...Array.from(found, ([name, [from, to]]): [string, unknown] => [
      name,
      memberValue(bytes, from, to, asText.has(name)),
    ]),
  ])
}

/**
 * The members of a JSON object by name; of JSON that is no object, its value. Accepts what JSON.parse accepts, of the
 * same name the last.
 */
export async function readMembers(bytes: Buffer, wanted: MemberChoice): Promise<ReadMembers> {
  if (bytes.length === 0) return { ok: false, problem: 'a JSON body' }
  if (!isUtf8(bytes)) return { ok: false, problem: 'JSON in UTF-8' }
  const steps = members(bytes, wanted)
  try {
    for (;;) {
      const step = steps.next()
      if (step.done) return { ok: true, value: step.value }
      await new Promise(setImmediate)
    }
  } catch (error) {
    if (error instanceof Broken) return { ok: false, problem: error.message }
    throw error
  }
}
