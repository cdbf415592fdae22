// What windows mean, kept for those that were compared lately: on PostgreSQL reading them is half of a search. The
// vectors of common subjects are candidates again and again.
import type { Meaning } from '../rank.ts'

/** About what those of one tenant may take. */
const MAX_BYTES = 16 * 1_048_576
/** A map's entry and two arrays' heads. */
const EACH = 300
/** More windows than a memory has. */
const PARTS = 4_096

export class WindowCache {
  // In the order of their last use.
  private readonly kept = new Map<number, Meaning>()
  bytes = 0

  get(place: number, part: number): Meaning | undefined {
    const key = place * PARTS + part
    const meaning = this.kept.get(key)
    if (!meaning) return undefined
    this.kept.delete(key)
    this.kept.set(key, meaning)
    return meaning
  }

  put(place: number, part: number, meaning: Meaning): void {
    this.delete(place, part)
    this.kept.set(place * PARTS + part, meaning)
    this.bytes += sizeOf(meaning)
    for (const [oldest, each] of this.kept) {
      if (this.bytes <= MAX_BYTES) break
      this.kept.delete(oldest)
      this.bytes -= sizeOf(each)
    }
  }

  delete(place: number, part: number): void {
    const key = place * PARTS + part
    const meaning = this.kept.get(key)
    if (!meaning) return
    this.kept.delete(key)
    this.bytes -= sizeOf(meaning)
  }
}

const sizeOf = ({ vector, tokens }: Meaning): number => vector.byteLength + tokens.byteLength + EACH
