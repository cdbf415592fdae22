// Reads a large JSON object in steps: its members are found and checked byte by byte, with a pause for other work after
// each stretch, and only the requested ones become values. JSON.parse of 10 MB of `[]` blocks the event loop for over a
// second and makes half a gigabyte of garbage; this makes none.
import { isUtf8 } from 'node:buffer'
import { escapesSurrogates, toText, wellFormed } from './json.ts'
import { atOnce, inSteps, nextTurn, type Pause } from './step-turns.ts'
import {
  atStart,
  Broken,
  CLOSE_OBJECT,
  COMMA,
  type Cursor,
  fail,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
  skipName,
  skipSpace,
  skipValue,
} from './json-scan.ts'

/** A JSON object that is kept, stored and sent as it came. */
export class JsonText {
  readonly bytes: Buffer
  constructor(bytes: Buffer) {
    this.bytes = bytes
  }
}

/** A longer text stays bytes: decoding ten megabytes, and encoding them twice, blocked the event loop for 40 ms. */
const LONG = 65_536

/** Returns the JSON text of a value: as it came, or made from a value of a caller in this process. */
export const jsonText = (value: unknown): string =>
  value instanceof JsonText ? value.bytes.toString('utf8') : toText(value)

/** The same, as bytes if the text is long. */
export const jsonTextOrBytes = (value: unknown): string | Buffer =>
  value instanceof JsonText && value.bytes.length > LONG ? value.bytes : jsonText(value)

export interface MemberChoice {
  /** Names of the members that become values. The others are checked and left out. */
  names: ReadonlySet<string>
  /** Names of the members that stay text if they are objects. */
  asText: ReadonlySet<string>
}

type ReadMembers = { ok: true; value: unknown } | { ok: false; problem: string }

/** A text of 32,768 characters, each written as two escapes. Nothing longer passes a check of its shape. */
const MAX_TEXT = 393_218
/** An object or array longer than this stands where none belongs: its kind is enough for the refusal. */
const MAX_VALUE = 4_096
/** Up to this many members that were not requested are shown, each with the beginning of its name and of its value. */
const MAX_UNKNOWN = 16
const MAX_NAME = 256

function memberValue(bytes: Buffer, start: number, end: number, asText: boolean): unknown {
  const first = bytes[start]
  if (asText && first === OPEN_OBJECT) return new JsonText(bytes.subarray(start, end))
  if (first === OPEN_OBJECT && end - start > MAX_VALUE) return {}
  if (first === OPEN_ARRAY && end - start > MAX_VALUE) return []
  // The beginning of a text that is too long will do: it is too long as well.
  if (first === QUOTE && end - start > MAX_TEXT) return bytes.toString('latin1', start + 1, start + MAX_TEXT)
  const text = bytes.toString('utf8', start, end)
  const value: unknown = JSON.parse(text)
  return escapesSurrogates(text) ? wellFormed(value) : value
}

/** The value of a member that was not requested: it serves a refusal alone, which shows its first 200 characters. */
const unknownValue = (bytes: Buffer, start: number, end: number): unknown =>
  end - start > MAX_VALUE ? bytes.toString('utf8', start, start + MAX_VALUE) : memberValue(bytes, start, end, false)

type Span = readonly [start: number, end: number]

interface Found {
  /** Where the values of the requested members stand. */
  found: ReadonlyMap<string, Span>
  /** Where the values of other members stand. */
  unknown: ReadonlyMap<string, Span>
  whole: Span
  isObject: boolean
}

// No member that anybody requests has a name this long, so the beginning of it will do.
const nameIn = (bytes: Buffer, [from, to]: Span): string =>
  to - from > MAX_NAME
    ? bytes.toString('utf8', from + 1, from + MAX_NAME)
    : (JSON.parse(bytes.toString('utf8', from, to)) as string)

/** Moves past an object whose brace is at the cursor, and tells where each member stands: its name and its value. */
function* walkMembers(
  bytes: Buffer,
  cursor: Cursor,
  depth: number,
  each: (name: Span, value: Span) => void,
): Generator<void, void> {
  cursor.at++
  skipSpace(bytes, cursor)
  if (bytes[cursor.at] === CLOSE_OBJECT) return void cursor.at++
  for (;;) {
    let name = skipName(bytes, cursor)
    for (; !name; name = skipName(bytes, cursor)) yield
    const valueAt = cursor.at
    yield* skipValue(bytes, cursor, depth + 1)
    each(name, [valueAt, cursor.at])
    skipSpace(bytes, cursor)
    const next = bytes[cursor.at++]
    if (next === CLOSE_OBJECT) return
    if (next !== COMMA) fail()
  }
}

function* findMembers(bytes: Buffer, names: ReadonlySet<string>, depth: number): Generator<void, Found> {
  const cursor = atStart()
  const found = new Map<string, Span>()
  const unknown = new Map<string, Span>()
  skipSpace(bytes, cursor)
  const start = cursor.at
  const isObject = bytes[start] === OPEN_OBJECT
  if (isObject)
    yield* walkMembers(bytes, cursor, depth, (at, value) => {
      const name = nameIn(bytes, at)
      if (names.has(name)) found.set(name, value)
      else if (unknown.size < MAX_UNKNOWN) unknown.set(name, value)
    })
  else yield* skipValue(bytes, cursor, depth)
  const end = cursor.at
  skipSpace(bytes, cursor)
  if (cursor.at < bytes.length) fail()
  return { found, unknown, whole: [start, end], isObject }
}

function* members(bytes: Buffer, { names, asText }: MemberChoice, depth: number): Generator<void, unknown> {
  const { found, unknown, whole, isObject } = yield* findMembers(bytes, names, depth)
  if (!isObject) return memberValue(bytes, ...whole, false)
  return Object.fromEntries<unknown>([
    ...Array.from(unknown, ([name, span]): [string, unknown] => [name, unknownValue(bytes, ...span)]),
    ...Array.from(found, ([name, [from, to]]): [string, unknown] => [
      name,
      memberValue(bytes, from, to, asText.has(name)),
    ]),
  ])
}

/**
 * Returns the members of a JSON object by name; for JSON that is no object, its value. Accepts what JSON.parse accepts;
 * of two members of the same name the last counts.
 */
export async function readMembers(
  bytes: Buffer,
  wanted: MemberChoice,
  extraDepth = 0,
  pause: Pause = nextTurn,
): Promise<ReadMembers> {
  if (bytes.length === 0) return { ok: false, problem: 'a JSON body' }
  if (!isUtf8(bytes)) return { ok: false, problem: 'JSON in UTF-8' }
  try {
    return { ok: true, value: await inSteps(members(bytes, wanted, -extraDepth), pause) }
  } catch (error) {
    if (error instanceof Broken) return { ok: false, problem: error.message }
    throw error
  }
}

/**
 * Returns the texts of these members of a JSON object that is known to be valid, as they stand in it: numbers of any
 * length stay what they are. With `pause` the object is read in steps.
 */
export function memberTexts(json: string, names: ReadonlySet<string>): Map<string, string>
export function memberTexts(json: string, names: ReadonlySet<string>, pause: Pause): Promise<Map<string, string>>
export function memberTexts(
  json: string,
  names: ReadonlySet<string>,
  pause?: Pause,
): Map<string, string> | Promise<Map<string, string>> {
  const bytes = Buffer.from(json)
  const steps = findMembers(bytes, names, 0)
  const textsOf = ({ found }: Found) =>
    new Map(Array.from(found, ([name, [from, to]]) => [name, bytes.toString('utf8', from, to)]))
  return pause ? inSteps(steps, pause).then(textsOf) : textsOf(atOnce(steps))
}

/**
 * Takes the members of these names out of a JSON object that is known to be valid, read in steps: returns what they
 * hold, and the text of the object without them. With `extraDepth` it may be nested deeper than what is sent.
 */
export function* splitMembers(
  json: string,
  names: readonly string[],
  extraDepth = 0,
): Generator<void, { taken: Map<string, Buffer>; rest: string }> {
  const bytes = Buffer.from(json)
  const cursor = atStart()
  const kept: string[] = []
  const taken = new Map<string, Buffer>()
  skipSpace(bytes, cursor)
  yield* walkMembers(bytes, cursor, -extraDepth, (at, [start, end]) => {
    const name = nameIn(bytes, at)
    if (names.includes(name)) taken.set(name, bytes.subarray(start, end))
    else kept.push(bytes.toString('utf8', at[0], end))
  })
  return { taken, rest: `{${kept.join(',')}}` }
}

/** Returns the text of a JSON object that is known to be valid without the members of these names, read in steps. */
export function* withoutMembers(json: string, names: readonly string[]): Generator<void, string> {
  return (yield* splitMembers(json, names)).rest
}
