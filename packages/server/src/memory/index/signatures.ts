// The windows of a tenant's memories, each with its signature, and the search for those that are nearest to a vector.
// Dropped windows stay behind as gaps.
import type { YieldCpu } from '../../kernel/yield-cpu.ts'

/** The mark of a row whose memory the search may return. */
export const WANTED = 2
const BUCKETS = 4096
/** Windows compared between two calls of `yieldCpu`, in about a tenth of a millisecond. */
const STRETCH = 2048

/** A window of the memory in a row, and the number its vector is stored under. */
export interface Window {
  row: number
  number: number
}

/** The vector whose nearest windows are wanted. */
interface Wanted {
  vector: Float32Array
  many: number
  /** Windows with a lower cosine may be left out. */
  leastCos?: number | undefined
}

/**
 * By how much the score of a window, as a share of the highest possible one, may be below its cosine. Among 12,000
 * pairs of texts of the built-in model with cosines above 0.92 it was 0.036 at most, and from 0.7 on 0.109.
 */
const MARGIN = 0.12

type Column = Float64Array | Int32Array | Uint8Array

/** Returns a copy of twice the size, so that adding one by one takes linear time in total. */
export function grown<C extends Column>(column: C, size: number): C {
  const larger = new (column.constructor as new (length: number) => C)(Math.max(1024, size * 2))
  larger.set(column)
  return larger
}

export const tooMany = (gaps: number, of: number): boolean => gaps > 1000 && gaps * 3 > of

/**
 * The windows of all signatures. The model of an embedding service may change the length of its vectors under the same
 * name, and a single response may have another one: each length has a table of its own, and a query searches that of
 * its length.
 */
export class Signatures {
  /** By the bytes of a signature. */
  private readonly tables = new Map<number, Table>()

  get bytes(): number {
    return this.all().reduce((sum, { bytes }) => sum + bytes, 0)
  }

  /** Whether there are more dropped windows than are worth skipping. */
  get fragmented(): boolean {
    return this.all().some(({ fragmented }) => fragmented)
  }

  add(row: number, number: number, signature: Uint8Array): void {
    let table = this.tables.get(signature.length)
    if (!table) this.tables.set(signature.length, (table = new Table(signature.length)))
    table.add(row, number, signature)
  }

  /** Drops every window of the memories at these rows and returns them. */
  drop(rows: ReadonlySet<number>): Window[] {
    return rows.size === 0 ? [] : this.all().flatMap((table) => table.drop(rows))
  }

  /** Returns every window of the memories at these rows. */
  at(rows: ReadonlySet<number>): Window[] {
    return rows.size === 0 ? [] : this.all().flatMap((table) => table.at(rows))
  }

  /** See `nearest` of a table. */
  nearest(wanted: Wanted, mask: Uint8Array, yieldCpu: YieldCpu): Window[] {
    return this.tables.get(Math.ceil(wanted.vector.length / 8))?.nearest(wanted, mask, yieldCpu) ?? []
  }

  private all(): Table[] {
    return [...this.tables.values()]
  }
}

/** The windows with signatures of one length. */
class Table {
  private readonly size: number // in bytes
  /** Four bytes to a number; the last number of a window is padded with zeros. */
  private signatures = new Uint32Array(0)
  private readonly stride: number
  /** For each window the row of its memory; -1 when it was dropped. */
  private rows = new Int32Array(0)
  private numbers = new Float64Array(0)
  private count = 0
  private dropped = 0

  constructor(size: number) {
    this.size = size
    this.stride = Math.ceil(size / 4)
  }

  get bytes(): number {
    return this.count * (this.size + 12)
  }

  get fragmented(): boolean {
    return tooMany(this.dropped, this.count)
  }

  add(row: number, number: number, signature: Uint8Array): void {
    if (this.count === this.rows.length) {
      this.rows = grown(this.rows, this.count)
      this.numbers = grown(this.numbers, this.count)
      const larger = new Uint32Array(this.rows.length * this.stride)
      larger.set(this.signatures)
      this.signatures = larger
    }
    const at = this.count * this.stride
    for (let i = 0; i < signature.length; i++) this.signatures[at + (i >> 2)]! |= signature[i]! << ((i & 3) << 3)
    this.rows[this.count] = row
    this.numbers[this.count] = number
    this.count++
  }

  drop(rows: ReadonlySet<number>): Window[] {
    const found: Window[] = []
    for (let i = 0; i < this.count; i++) {
      const row = this.rows[i]!
      if (!rows.has(row)) continue
      found.push({ row, number: this.numbers[i]! })
      this.rows[i] = -1
    }
    this.dropped += found.length
    return found
  }

  at(rows: ReadonlySet<number>): Window[] {
    const found: Window[] = []
    for (let i = 0; i < this.count; i++) {
      const row = this.rows[i]!
      if (row >= 0 && rows.has(row)) found.push({ row, number: this.numbers[i]! })
    }
    return found
  }

  /**
   * Returns the windows of wanted rows that are probably the nearest to a vector: at least `many`, or all if there are
   * fewer that may have the least cosine. The score of a window is the sum of the vector's numbers, each taken with the
   * sign in the window's signature. This is far better than counting equal signs and costs no more: a table holds the
   * sum for each value of each byte.
   */
  nearest({ vector, many, leastCos = -1 }: Wanted, mask: Uint8Array, yieldCpu: YieldCpu): Window[] {
    const { stride, signatures, count, rows } = this
    const { sums, most } = sumsOf(vector, stride * 4)
    // Sums lie in ±most. Each falls into a bucket, and the highest buckets that together hold enough are taken.
    const bucketOf = new Int16Array(count)
    const histogram = new Int32Array(BUCKETS)
    const perUnit = BUCKETS / (2 * most)
    const bucket = (sum: number): number => Math.min(BUCKETS - 1, Math.max(0, Math.floor((sum + most) * perUnit)))
    for (let i = 0; i < count; i++) {
      if (i % STRETCH === 0) yieldCpu()
      bucketOf[i] = -1
      if (mask[rows[i]!] !== WANTED) continue // a dropped window has the row -1
      // Integers, four bytes at a time and in two sums: 7 ms for 100,000 windows, where floats byte by byte took 13.
      let low = 0
      let high = 0
      for (let word = 0, at = i * stride; word < stride; word++, at++) {
        const bits = signatures[at]!
        const table = word << 10
        low = (low + sums[table | (bits & 255)]! + sums[(table + 256) | ((bits >>> 8) & 255)]!) | 0
        high = (high + sums[(table + 512) | ((bits >>> 16) & 255)]! + sums[(table + 768) | (bits >>> 24)]!) | 0
      }
      histogram[(bucketOf[i] = bucket(low + high))]!++
    }
    const lowest = bucket((leastCos - MARGIN) * most)
    let least = BUCKETS - 1
    for (let found = histogram[least]!; least > lowest && found < many; ) found += histogram[--least]!
    const nearest: Window[] = []
    for (let i = 0; i < count; i++) if (bucketOf[i]! >= least) nearest.push({ row: rows[i]!, number: this.numbers[i]! })
    return nearest
  }
}

/** The length 1 in the integer sums below. The most that a vector of length 1 reaches, √dimensions, stays below 2³¹. */
const UNIT = 2 ** 20

/**
 * Returns for each value of each byte of a signature the sum of its signs, in integers, and about the largest total
 * sum. Each sum is computed from that of the value without its lowest bit.
 */
function sumsOf(vector: Float32Array, size: number): { sums: Int32Array; most: number } {
  const sums = new Int32Array(size * 256)
  let most = 1
  const units = Array.from({ length: size * 8 }, (_, i) => Math.round((vector[i] ?? 0) * UNIT))
  for (const unit of units) most += Math.abs(unit)
  for (let byte = 0; byte < size; byte++) {
    const at = byte << 8
    for (let bit = 0; bit < 8; bit++) sums[at]! -= units[byte * 8 + bit]!
    for (let value = 1; value < 256; value++) {
      const lowest = value & -value
      sums[at | value] = sums[at | (value ^ lowest)]! + 2 * units[byte * 8 + 31 - Math.clz32(lowest)]!
    }
  }
  return { sums, most }
}
