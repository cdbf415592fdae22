// What windows mean, kept for those that were compared lately: reading them is half of a search. The vectors of common
// subjects are candidates again and again.
import type { Meaning } from '../rank.ts'

/** About what those of one tenant may take. */
const MAX_BYTES = 16 * 1_048_576
/** A map's entry and two arrays' heads. */
const EACH = 300
/**
 * More than the numbers of windows, which on the embedded store count all of them. With the place of a memory before it
 * that is a whole number up to two million memories, more than are kept.
 */
const NUMBERS = 2 ** 32

export class WindowCache {
  // In the order of their last use.
  private readonly kept = new Map<number, Meaning>()
  bytes = 0

  get(place: number, number: number): Meaning | undefined {
    const key = place * NUMBERS + number
    const meaning = this.kept.get(key)
    if (!meaning) return undefined
    this.kept.delete(key)
    this.kept.set(key, meaning)
    return meaning
  }

  put(place: number, number: number, meaning: Meaning): void {
    this.delete(place, number)
    this.kept.set(place * NUMBERS + number, meaning)
    this.bytes += sizeOf(meaning)
    for (const [oldest, each] of this.kept) {
      if (this.bytes <= MAX_BYTES) break
      this.kept.delete(oldest)
      this.bytes -= sizeOf(each)
    }
  }

  delete(place: number, number: number): void {
    const key = place * NUMBERS + number
    const meaning = this.kept.get(key)
    if (!meaning) return
    this.kept.delete(key)
    this.bytes -= sizeOf(meaning)
  }
}

const sizeOf = ({ vector, tokens }: Meaning): number => vector.byteLength + tokens.byteLength + EACH
