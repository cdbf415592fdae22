// What a caller is told of an expression that cannot be compiled or that failed.
/** Says why an expression cannot be compiled, and where. */
export class CelSyntaxError extends Error {
  override readonly name = 'CelSyntaxError'
  /** What is wrong, without the position: `unexpected '>'`. */
  readonly reason: string
  /** 0-based offset into the source, in characters (Unicode code points). */
  readonly position: number
  /** 1-based. */
  readonly line: number
  /** 1-based, in characters. */
  readonly column: number

  /** `offset` counts UTF-16 units, as JavaScript does. */
  constructor(source: string, offset: number, reason: string) {
    const before = source.slice(0, offset)
    const lines = before.split('\n')
    const position = countCodePoints(before)
    const line = lines.length
    const column = countCodePoints(lines.at(-1) ?? '') + 1
    const where = line === 1 ? `position ${position}` : `position ${position} (line ${line}, column ${column})`
    super(`${reason} at ${where}`)
    this.reason = reason
    this.position = position
    this.line = line
    this.column = column
  }
}

/** Says why an expression returned no value. */
export class CelError extends Error {
  override readonly name = 'CelError'
  /** Whether the evaluation exceeded its budget. */
  readonly overBudget: boolean

  constructor(message: string, overBudget = false) {
    super(message)
    this.overBudget = overBudget
  }
}

export function countCodePoints(text: string): number {
  let count = text.length
  for (let i = 1; i < text.length; i++) {
    if ((text.charCodeAt(i) & 0xfc00) === 0xdc00 && (text.charCodeAt(i - 1) & 0xfc00) === 0xd800) count--
  }
  return count
}

/** Quotes a text and shortens it for a message. The result is a text of its own, and keeps no long one alive. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)
}
