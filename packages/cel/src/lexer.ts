// Splits source into tokens, with the values of literals.
import { CelSyntaxError } from './errors.ts'
import { double, int, MAX_INT, MAX_UINT, Uint, type Value } from './values.ts'

type TokenKind =
  /** A number, string or bytes; its value is in `value`. */
  | 'literal'
  /** -9223372036854775808 is an int and 9223372036854775808 is not, so the parser has to see the sign first. */
  | 'huge'
  | 'name'
  /** A name in backticks, which may only follow a dot. */
  | 'quoted'
  | 'op'
  | 'end'

export interface Token {
  readonly kind: TokenKind
  /** The operator or the name; for a literal, its source. */
  readonly text: string
  readonly value: Value
  readonly at: number
}

const OPERATORS = ['&&', '||', '==', '!=', '<=', '>=', ...'<>!+-*/%?:.,()[]{}']

const SPACE = /(?:[ \t\n\f\r]|\/\/[^\n]*)*/y
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y
const QUOTED = /`([A-Za-z0-9_.\-/ ]+)`/y
const DOUBLE = /(?:[0-9]*\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+)/y
const INTEGER = /(0[xX][0-9a-fA-F]+|[0-9]+)([uU]?)/y
const STRING_START = /([rR][bB]?|[bB][rR]?)?("""|'''|"|')/y

export function tokenize(source: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    return pattern.exec(source)
  }
  const push = (kind: TokenKind, text: string, value: Value, length: number): void => {
    tokens.push({ kind, text, value, at })
    at += length
  }

  for (;;) {
    at += match(SPACE)?.[0].length ?? 0
    if (at >= source.length) break
    let found: RegExpExecArray | null
    if ((found = match(STRING_START)) !== null) {
      const { value, end } = readString(source, at, found[1] ?? '', found[2] as string)
      push('literal', source.slice(at, end), value, end - at)
    } else if ((found = match(NAME)) !== null) {
      push('name', found[0], null, found[0].length)
    } else if ((found = match(DOUBLE)) !== null) {
      const value = Number(found[0])
      if (!Number.isFinite(value)) throw new CelSyntaxError(source, at, 'number out of range')
      push('literal', found[0], double(value), found[0].length)
    } else if ((found = match(INTEGER)) !== null) {
      const value = BigInt(found[1] as string)
      const unsigned = found[2] !== ''
      const huge = !unsigned && value === MAX_INT + 1n
      if (value > (unsigned ? MAX_UINT : MAX_INT) && !huge) {
        throw new CelSyntaxError(source, at, 'integer out of range')
      }
      push(huge ? 'huge' : 'literal', found[0], unsigned ? new Uint(value) : int(value), found[0].length)
    } else if ((found = match(QUOTED)) !== null) {
      push('quoted', found[1] as string, null, found[0].length)
    } else {
      const operator = OPERATORS.find((candidate) => source.startsWith(candidate, at))
      if (operator === undefined) {
        const char = String.fromCodePoint(source.codePointAt(at) as number)
        throw new CelSyntaxError(source, at, `unexpected character '${char}'`)
      }
      push('op', operator, null, operator.length)
    }
  }
  tokens.push({ kind: 'end', text: '', value: null, at: source.length })
  return tokens
}

const SIMPLE_ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  '?': '?',
  '"': '"',
  "'": "'",
  '`': '`',
}
const CODED_ESCAPE = /[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})/y

/** Reads a string or bytes literal that opens at `start` with this prefix and quote. */
function readString(
  source: string,
  start: number,
  prefix: string,
  quote: string,
): { value: string | Uint8Array; end: number } {
  const raw = /r/i.test(prefix)
  const bytes = /b/i.test(prefix)
  const triple = quote.length === 3
  let text = ''
  // In bytes, an escape stands for a byte and everything else is UTF-8, so the two are kept apart until the end.
  const parts: (string | number)[] = []
  let at = start + prefix.length + quote.length
  for (;;) {
    if (at >= source.length) throw new CelSyntaxError(source, start, 'unterminated string')
    if (source.startsWith(quote, at)) break
    const char = source[at] as string
    if (!triple && (char === '\n' || char === '\r')) {
      throw new CelSyntaxError(source, start, 'unterminated string')
    }
    // In a raw string a backslash is an ordinary character, even before the quote.
    if (char !== '\\' || raw) {
      text += char
      at++
      continue
    }
    const escaped = readEscape(source, at, bytes)
    if (typeof escaped.value === 'string') text += escaped.value
    else {
      parts.push(text, escaped.value)
      text = ''
    }
    at = escaped.end
  }
  parts.push(text)
  return { value: bytes ? toBytes(parts) : text, end: at + quote.length }
}

/** Returns the character of an escape, or in a bytes literal the byte of a numeric escape. */
function readEscape(source: string, at: number, bytes: boolean): { value: string | number; end: number } {
  const char = source[at + 1] ?? ''
  if (Object.hasOwn(SIMPLE_ESCAPES, char)) return { value: SIMPLE_ESCAPES[char] as string, end: at + 2 }
  CODED_ESCAPE.lastIndex = at + 1
  const coded = CODED_ESCAPE.exec(source)
  const unicode = coded?.[2] ?? coded?.[3]
  if (coded === null || (bytes && unicode !== undefined)) {
    throw new CelSyntaxError(source, at, `invalid escape sequence '\\${char}'`)
  }
  const end = at + 1 + coded[0].length
  const octal = coded[4]
  const code = octal !== undefined ? parseInt(octal, 8) : parseInt(unicode ?? coded[1] ?? '', 16)
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
    throw new CelSyntaxError(source, at, `'${source.slice(at, end)}' is not a character`)
  }
  return { value: bytes ? code : String.fromCodePoint(code), end }
}

function toBytes(parts: readonly (string | number)[]): Uint8Array {
  const buffers = parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'utf8') : Buffer.of(part)))
  return new Uint8Array(Buffer.concat(buffers))
}
