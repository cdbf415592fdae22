// Parses a large JSON text in steps, with a pause for other work after each: JSON.parse of a megabyte of `{}` blocks
// the event loop for 50 to 200 ms. The text is scanned once, and parsed by JSON.parse in stretches between commas; a
// value that is larger than a stretch is put together from its parts.
import { isUtf8 } from 'node:buffer'
import { keepFirstNames } from './first-names.ts'
import {
  escapesSurrogates,
  MAX_DEPTH,
  type ParsedJson,
  parseJson,
  STORED_DEPTH,
  TOO_DEEP,
  wellFormed,
  withExactNumbers,
  withRawNumbers,
} from './json.ts'
import {
  atStart,
  Broken,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COMMA,
  type Cursor,
  fail,
  OPEN_ARRAY,
  OPEN_OBJECT,
  skipName,
  skipScalar,
  skipSpace,
  skipValue,
} from './json-scan.ts'
import { SHORT_LENGTH } from './lengths.ts'
import { inSteps, nextTurn, type Pause } from './step-turns.ts'

export interface ParseOptions {
  /** Added to the limit of depth: allows for an envelope around the part that the limit is about, or takes from it. */
  extraDepth?: number
  /** Whole numbers that a double cannot hold become bigint. */
  exactNumbers?: boolean
  /** With `exactNumbers`: they become what JSON.stringify writes as it came, for a caller that passes the value on. */
  rawNumbers?: boolean
  /** Halves of surrogate pairs are replaced, as every encoder would. */
  wellFormed?: boolean
  /** Members of the outermost object for which this returns true are checked and not read: present, but undefined. */
  leaveOut?: (name: string, isNested: boolean) => boolean
  /**
   * Called for each member of an object and item of an array before its value is read, with the number of objects and
   * arrays around it. Ends the parse if it throws. `nameOf` returns null for an item.
   */
  onMember?: (depth: number, nameOf: () => string | null) => void
}

/** About a quarter of a millisecond of the smallest values there are. */
const STRETCH = 4_096
/** An object with more members than this takes long to list. */
const WIDE = 1_000

/** An object or array whose end is not seen yet. */
interface Open {
  isObject: boolean
  /** The members that were read so far; null while all of it is still text. */
  value: unknown[] | Record<string, unknown> | null
  /** How many members of an object are in `value`. */
  members: number
  /** Where the text begins that is not in `value` yet. */
  from: number
  /** The last comma in that text, -1 if it has none. */
  commaAt: number
  /** Whether there is no such text: the last member was put together from its parts, and is in `value`. */
  isRead: boolean
  /** The name of the member under way, in an object. */
  name: [start: number, end: number]
}

function withNumbers(text: string, value: unknown, { exactNumbers, rawNumbers }: ParseOptions): unknown {
  if (!exactNumbers) return value
  const exact = withExactNumbers(text, value)
  return rawNumbers ? withRawNumbers(text, exact) : exact
}

function readText(text: string, options: ParseOptions): unknown {
  const value = withNumbers(text, JSON.parse(text), options)
  return options.wellFormed && escapesSurrogates(text) ? wellFormed(value) : value
}

// As in JSON.parse, the last of two members of the same name counts, and `__proto__` is a name like any other.
function setMember(holder: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__')
    Object.defineProperty(holder, name, { value, enumerable: true, configurable: true, writable: true })
  else holder[name] = value
}

class Steps {
  readonly #bytes: Buffer
  readonly #options: ParseOptions
  readonly #open: Open[] = []

  constructor(bytes: Buffer, options: ParseOptions) {
    this.#bytes = bytes
    this.#options = options
  }

  *run(): Generator<void, unknown> {
    const bytes = this.#bytes
    const open = this.#open
    const cursor: Cursor = { ...atStart(), pauseAt: STRETCH }
    skipSpace(bytes, cursor)
    /** Whether the cursor is past the value already. */
    let isPassed = false
    for (;;) {
      if (!isPassed && this.#goInto(cursor)) {
        isPassed = yield* this.#member(cursor)
        continue
      }
      while (cursor.stringAt >= 0 && !skipScalar(bytes, cursor)) yield
      const top = open.at(-1)
      if (!top) return this.#end(cursor, readText(bytes.toString('utf8', 0, cursor.at), this.#options))
      skipSpace(bytes, cursor)
      const next = bytes[cursor.at++]
      if (next === COMMA) {
        this.#comma(top, cursor.at)
        if (cursor.at >= cursor.pauseAt) {
          this.#readAll()
          cursor.pauseAt = cursor.at + STRETCH
          yield
        }
        isPassed = yield* this.#member(cursor)
        continue
      }
      if (next !== (top.isObject ? CLOSE_OBJECT : CLOSE_ARRAY)) fail()
      open.pop()
      isPassed = true
      if (open.length === 0 && top.value !== null) return this.#end(cursor, this.#closed(top, cursor.at - 1))
      if (top.value !== null) this.#addTo(open.at(-1)!, this.#closed(top, cursor.at - 1))
    }
  }

  /** Enters an object or array and returns true; or skips a scalar, of a string its beginning, and returns false. */
  #goInto(cursor: Cursor): boolean {
    const bytes = this.#bytes
    const c = bytes[cursor.at]
    if (c !== OPEN_OBJECT && c !== OPEN_ARRAY) {
      skipScalar(bytes, cursor)
      return false
    }
    if (this.#open.length >= MAX_DEPTH + (this.#options.extraDepth ?? 0)) fail(TOO_DEEP)
    cursor.at++
    skipSpace(bytes, cursor)
    const isObject = c === OPEN_OBJECT
    if (bytes[cursor.at] === (isObject ? CLOSE_OBJECT : CLOSE_ARRAY)) {
      cursor.at++
      return false
    }
    this.#open.push({ isObject, value: null, members: 0, from: cursor.at, commaAt: -1, isRead: false, name: [0, 0] })
    return true
  }

  /** Moves to the next value, in an object past its name. Returns true if the value is left out and was skipped. */
  *#member(cursor: Cursor): Generator<void, boolean> {
    const bytes = this.#bytes
    const top = this.#open.at(-1)!
    const { leaveOut, onMember } = this.#options
    skipSpace(bytes, cursor)
    if (!top.isObject) {
      onMember?.(this.#open.length, () => null)
      return false
    }
    let name = skipName(bytes, cursor)
    for (; !name; name = skipName(bytes, cursor)) yield
    top.name = name
    onMember?.(this.#open.length, () => this.#nameOf(top))
    if (leaveOut === undefined || this.#open.length > 1) return false
    const first = bytes[cursor.at]
    if (!leaveOut(this.#nameOf(top), first === OPEN_OBJECT || first === OPEN_ARRAY)) return false
    this.#readAll()
    yield* skipValue(bytes, cursor, 1 - (this.#options.extraDepth ?? 0))
    this.#addTo(top, undefined)
    return true
  }

  #comma(top: Open, after: number): void {
    top.commaAt = after - 1
    if (!top.isRead) return
    top.isRead = false
    top.from = after
    top.commaAt = -1
  }

  /** Turns the complete members of every open object and array into values. */
  #readAll(): void {
    for (const one of this.#open) {
      one.value ??= one.isObject ? {} : []
      if (one.commaAt === -1) continue
      this.#read(one, one.commaAt)
      one.from = one.commaAt + 1
      one.commaAt = -1
    }
  }

  #read(one: Open, end: number): void {
    const text = this.#bytes.toString('utf8', one.from, end)
    if (one.isObject) {
      const part = readText(`{${text}}`, this.#options) as Record<string, unknown>
      const names = Object.keys(part)
      for (const name of names) setMember(one.value as Record<string, unknown>, name, part[name])
      one.members += names.length
      if (one.members > WIDE) keepFirstNames(one.value!)
    } else {
      const part = readText(`[${text}]`, this.#options) as unknown[]
      for (let i = 0; i < part.length; i++) (one.value as unknown[]).push(part[i])
    }
  }

  #closed(one: Open, end: number): unknown {
    if (!one.isRead) this.#read(one, end)
    return one.value
  }

  #addTo(parent: Open, value: unknown): void {
    if (parent.isObject) setMember(parent.value as Record<string, unknown>, this.#nameOf(parent), value)
    else (parent.value as unknown[]).push(value)
    parent.isRead = true
  }

  #nameOf({ name: [start, end] }: Open): string {
    return JSON.parse(this.#bytes.toString('utf8', start, end)) as string
  }

  #end(cursor: Cursor, value: unknown): unknown {
    skipSpace(this.#bytes, cursor)
    if (cursor.at < this.#bytes.length) fail()
    return value
  }
}

/** Returns the steps themselves, for a caller that takes turns with others. They throw if the text is no JSON. */
export const parseSteps = (bytes: Buffer, options: ParseOptions = {}): Generator<void, unknown> =>
  new Steps(bytes, options).run()

function parseAtOnce(bytes: Buffer, options: ParseOptions): ParsedJson {
  const parsed = parseJson(bytes, options.extraDepth)
  if (!parsed.ok) return parsed
  const value = withNumbers(parsed.text, parsed.value, options)
  return { ...parsed, value: options.wellFormed && escapesSurrogates(bytes) ? wellFormed(value) : value }
}

export const isLong = (bytes: Buffer): boolean => bytes.length > SHORT_LENGTH

/**
 * Parses a body: at once if it is short and has no `onMember`, else in steps. Accepts what JSON.parse accepts, and
 * gives the same value.
 */
export const parseBody = (
  bytes: Buffer,
  options: ParseOptions = {},
  pause: Pause = nextTurn,
): ParsedJson | Promise<ParsedJson> =>
  isLong(bytes) || options.onMember ? parseLong(bytes, options, pause) : parseAtOnce(bytes, options)

async function parseLong(bytes: Buffer, options: ParseOptions, pause: Pause): Promise<ParsedJson> {
  if (!isUtf8(bytes)) return { ok: false, problem: 'JSON in UTF-8' }
  try {
    const value = await inSteps(parseSteps(bytes, options), pause)
    return { ok: true, value, text: bytes.toString('utf8') }
  } catch (error) {
    if (error instanceof Broken) return { ok: false, problem: error.message }
    throw error
  }
}

/** What may stand around an event in a response of the service. */
export const AROUND = STORED_DEPTH + 8

/** Parses a response of the service itself, in steps, for a caller that passes it on with its long whole numbers. */
export async function passOnInSteps(text: string, pause: Pause): Promise<unknown> {
  const options = { extraDepth: AROUND, exactNumbers: true, rawNumbers: true }
  const parsed = await parseBody(Buffer.from(text), options, pause)
  if (!parsed.ok) throw new Error(`a response is not ${parsed.problem}`)
  return parsed.value
}
