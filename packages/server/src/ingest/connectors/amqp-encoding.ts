// Checks that the bytes of an AMQP 1.0 message or frame can be decoded with bounded work. Pure, linear, and itself
// bounded.
//
// Anyone who may send to a queue chooses the bytes of a message, and a broker passes them on unread. Twenty bytes can
// declare an array of four thousand million items of zero width, and ten thousand lists can be nested in one another:
// decoding the first takes all memory, the second all of the stack. So the lengths are checked before anything is
// decoded.

/** Why a message or a frame cannot be read. The text goes into `last_error`, and to the broker with a message. */
export class Unreadable extends Error {}

/** The annotations, properties and bodies that we read nest three deep; the JSON of a body is bytes at this level. */
const MAX_NESTED = 16
/** Values in one message, or in what a frame has before its payload. The bytes of a data section are one value. */
const MAX_VALUES = 4_096
/** Where a frame says how far its header goes, in words of four bytes. */
const DATA_OFFSET = 4
const FIRST_SECTION = 0x70
const LAST_SECTION = 0x78
/** Width of a value in bytes by the high half of its type code, from 0x4_ to 0x9_. */
const FIXED_WIDTHS = [0, 1, 2, 4, 8, 16]

/** Throws Unreadable for the bytes of a message that must not be decoded. */
export function checkMessage(bytes: Buffer): void {
  const { end, checkNext } = makeCheck('message', bytes, 0)
  while (end() < bytes.length) {
    checkSection(bytes, end())
    checkNext()
  }
}

/**
 * Throws Unreadable for a frame that must not be decoded. Its payload, which is part of a message, is not looked at.
 */
export function checkFrame(frame: Buffer): void {
  const start = 4 * frame[DATA_OFFSET]!
  if (start < frame.length) makeCheck('frame', frame, start).checkNext()
}

/** Returns a check of one value after the other, and where the last one ended. */
function makeCheck(what: 'message' | 'frame', bytes: Buffer, start: number): { checkNext(): void; end(): number } {
  let at = start
  let values = 0

  function skip(count: number, end: number): number {
    if (count > end - at) throw new Unreadable(`the ${what} is cut short`)
    const from = at
    at += count
    return from
  }
  const length = (wide: boolean, end: number): number =>
    wide ? bytes.readUInt32BE(skip(4, end)) : bytes[skip(1, end)]!

  /** Reads the type code of the next value. In a described type, the descriptor comes before it. */
  function typeCode(depth: number, end: number): number {
    const code = bytes[skip(1, end)]!
    if (code !== 0) return code
    value(depth + 1, end)
    return typeCode(depth + 1, end)
  }

  function content(code: number, depth: number, end: number): void {
    if (++values > MAX_VALUES) throw new Unreadable(`the ${what} has more than ${MAX_VALUES} values`)
    const shape = code >> 4
    if (shape >= 0x4 && shape <= 0x9) return void skip(FIXED_WIDTHS[shape - 4]!, end)
    const wide = shape === 0xb || shape === 0xd || shape === 0xf
    if (shape === 0xa || shape === 0xb) return void skip(length(wide, end), end)
    if (shape < 0xc) throw new Unreadable(`the ${what} has a type that is not known`)
    const size = length(wide, end)
    const inner = at + size
    if (inner > end) throw new Unreadable(`the ${what} is cut short`)
    const count = length(wide, inner)
    if (shape <= 0xd) for (let i = 0; i < count; i++) value(depth + 1, inner)
    else {
      const items = typeCode(depth + 1, inner)
      for (let i = 0; i < count; i++) content(items, depth + 1, inner)
    }
    if (at !== inner) throw new Unreadable(`the lengths in the ${what} do not agree`)
  }

  function value(depth: number, end: number): void {
    if (depth > MAX_NESTED) throw new Unreadable(`the ${what} nests more than ${MAX_NESTED} deep`)
    content(typeCode(depth, end), depth, end)
  }

  return { checkNext: () => value(0, bytes.length), end: () => at }
}

// A section is identified by a number, or by a name that begins with `amqp:`.
function checkSection(bytes: Buffer, at: number): void {
  const [zero, kind, code] = bytes.subarray(at, at + 3)
  const number =
    kind === 0x53 ? code! : kind === 0x80 && bytes.length >= at + 10 ? Number(bytes.readBigUInt64BE(at + 2)) : NaN
  const known = number >= FIRST_SECTION && number <= LAST_SECTION
  const named = kind === 0xa3 && bytes.toString('latin1', at + 3, at + 8) === 'amqp:'
  if (zero !== 0 || !(known || named)) throw new Unreadable('the message has a section that is not known')
}
