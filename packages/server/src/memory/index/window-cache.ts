// Caches the meanings of recently compared windows: reading them is half of a search, and the vectors of common
// subjects are candidates again and again.
import type { Meaning } from '../rank.ts'

/** About the most that the meanings of one tenant may take. */
const MAX_BYTES = 16 * 1_048_576
/** The overhead of a map entry and two array headers, in bytes. */
const EACH = 300
/**
 * Larger than any number of a window; on the embedded store the windows of all tenants are numbered together. A key
 * made of a row and a number is an exact integer up to two million memories, more than are kept.
 */
const NUMBERS = 2 ** 32

export class WindowCache {
  // In the order of their last use, the oldest first.
  private readonly kept = new Map<number, Meaning>()
  bytes = 0

  get(row: number, number: number): Meaning | undefined {
    const key = row * NUMBERS + number
    const meaning = this.kept.get(key)
    if (!meaning) return undefined
    this.kept.delete(key)
    this.kept.set(key, meaning)
    return meaning
  }

  put(row: number, number: number, meaning: Meaning): void {
    this.delete(row, number)
    this.kept.set(row * NUMBERS + number, meaning)
    this.bytes += sizeOf(meaning)
    for (const [oldest, each] of this.kept) {
      if (this.bytes <= MAX_BYTES) break
      this.kept.delete(oldest)
      this.bytes -= sizeOf(each)
    }
  }

  delete(row: number, number: number): void {
    const key = row * NUMBERS + number
    const meaning = this.kept.get(key)
    if (!meaning) return
    this.kept.delete(key)
    this.bytes -= sizeOf(meaning)
  }
}

const sizeOf = ({ vector, tokens }: Meaning): number => vector.byteLength + tokens.byteLength + EACH
