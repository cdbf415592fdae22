// Splits bytes that arrive in pieces into lines, with never more in memory than one line and one piece.

export interface Line {
  /** From 1. */
  number: number
  /** Null if the line is longer than allowed; `size` is its length in any case. */
  bytes: Buffer | null
  size: number
}

/**
 * Returns the most bytes of a line, given the most bytes of the body of a creation: enough for whatever an export
 * writes. A change may bring metadata of a mebibyte; texts of 32,768 characters that are six bytes each come on top of
 * it, with what the service adds.
 */
export const lineBytesFor = (maxMemoryBytes: number): number => Math.max(maxMemoryBytes, 1_048_576) + 1_048_576

const NEWLINE = 0x0a
const SPACES = new Set([0x20, 0x09, 0x0d])

const isBlank = (bytes: Buffer): boolean => bytes.every((byte) => SPACES.has(byte))

/** Yields the lines that are not blank, each with its number. */
export async function* linesOf(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Line> {
  let number = 1
  let size = 0
  let kept: Buffer[] = []

  function add(part: Buffer): void {
    size += part.length
    if (size <= maxBytes) kept.push(part)
    else kept = []
  }
  function end(): Line | null {
    const line = { number, size, bytes: size > maxBytes ? null : kept.length === 1 ? kept[0]! : Buffer.concat(kept) }
    number++
    size = 0
    kept = []
    return line.bytes !== null && isBlank(line.bytes) ? null : line
  }

  for await (const piece of pieces) {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
    let start = 0
    for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, start)) {
      add(bytes.subarray(start, at))
      start = at + 1
      const line = end()
      if (line) yield line
    }
    // A copy: the source of the pieces may reuse the buffer.
    if (start < bytes.length) add(Buffer.from(bytes.subarray(start)))
  }
  const line = end()
  if (line) yield line
}
