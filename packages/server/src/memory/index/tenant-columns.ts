// The data of a tenant that a search needs, column by column, kept in memory by the search thread: who may see each
// memory, the weights of its score, and the signature of each of its windows. About 300 bytes a memory; texts, words
// and vectors stay on disk.
//
// Why: joining words or signatures with the rows that say who may see them costs a microsecond a row, 50 to 130 ms for
// a tenant of 50,000 memories. Over these columns it takes 2 ms.
//
// A memory keeps its row until it is removed. The rows of removed memories and the windows of changed texts stay behind
// as gaps; when there are many gaps, the columns are read again (tenant-cache.ts).
import { randomUUID } from 'node:crypto'
import type { YieldCpu } from '../../kernel/yield-cpu.ts'
import type { Weights } from '../rank.ts'
import { Postings } from './postings.ts'
import { WORD_BYTES, type Vocabulary } from './spelling.ts'
import { WindowCache } from './window-cache.ts'
import { maySee, type Viewer, type Visibility } from '../see.ts'

export interface MemoryColumns extends Visibility {
  id: string
  type: string
  weights: Weights
  /** Its number in the full-text index of the embedded store; null elsewhere. */
  doc: number | null
  length: number
  /** The version of its text and word rules. */
  version: number
}

const SEEN = 1
const WANTED = 2
const BUCKETS = 4096
/** Windows compared between two calls of `yieldCpu`, in about a tenth of a millisecond. */
const STRETCH = 2048

/** What a search lets through. */
export interface ColumnFilter {
  viewer: Viewer
  scope: string | null
  type: string | null
  minConfidence: number
  now: number
  /** Ids of the memories that pass the other filters; null when there are no other filters. */
  only: ReadonlySet<string> | null
}

/** Marks each row as seen, which counts for the statistics of words, or wanted, which also passes the filters. */
export interface View {
  mask: Uint8Array
  memories: number
  averageLength: number
}

export const isSeen = (view: View, row: number): boolean => view.mask[row]! >= SEEN
export const isWanted = (view: View, row: number): boolean => view.mask[row] === WANTED

/** A window of the memory in a row, and the number its vector is stored under. */
export interface Window {
  row: number
  number: number
}

type Column = Float64Array | Int32Array | Uint8Array

/** Returns a copy of twice the size, so that adding one by one takes linear time in total. */
function grown<C extends Column>(column: C, size: number): C {
  const larger = new (column.constructor as new (length: number) => C)(Math.max(1024, size * 2))
  larger.set(column)
  return larger
}

const tooMany = (gaps: number, of: number): boolean => gaps > 1000 && gaps * 3 > of

export class TenantColumns {
  /** Unique to this instance: columns that are read again, or by another thread, may hold something else. */
  readonly name = randomUUID()
  readonly ids: string[] = []
  readonly byDoc = new Map<number, number>()
  readonly postings = new Postings()
  readonly meanings = new WindowCache()
  /** Words by their first letter, for the letters that were looked up. */
  readonly vocabularies = new Map<string, Vocabulary>()
  private readonly weightNames: readonly (keyof Weights)[]
  private readonly weights: Record<keyof Weights, Float64Array>
  /** The state of the store that these columns have seen, in the form that their engine uses. */
  seenUpTo: number | string = 0
  /** Incremented with every change of memories. A window that was read across a change may be gone. */
  windowChanges = 0
  /** Incremented with every change of texts. Words that were read across a change may miss a text. */
  texts = 0

  lengths = new Int32Array(0)
  private expiresAt = new Float64Array(0)
  private docs = new Float64Array(0)
  private versions = new Float64Array(0)
  private types = new Uint8Array(0)
  /** For each row the index in `audiences` of who may see the memory; -1 when it is gone. */
  private audience = new Int32Array(0)
  private readonly audiences: Visibility[] = []
  private readonly audienceOf = new Map<string, number>()
  private readonly typeNames: string[] = []
  private readonly byId = new Map<string, number>()

  private signatureSize = 0 // in bytes; set by the first signature
  /** Four bytes to a number; the last number of a window is padded with zeros. */
  private signatures = new Uint32Array(0)
  private stride = 0
  private windowRows = new Int32Array(0)
  private windowNumbers = new Float64Array(0)
  private windows = 0
  private dropped = 0
  private removed = 0

  constructor(weightNames: readonly (keyof Weights)[]) {
    this.weightNames = weightNames
    this.weights = Object.fromEntries(weightNames.map((name) => [name, new Float64Array(0)])) as typeof this.weights
  }

  get bytes(): number {
    const windows = this.windows * (this.signatureSize + 12)
    let spelt = 0
    for (const vocabulary of this.vocabularies.values()) spelt += vocabulary.size * WORD_BYTES
    return this.ids.length * 250 + windows + this.meanings.bytes + this.postings.bytes + spelt
  }

  /** Whether there are more dropped windows or removed memories than are worth skipping. */
  get fragmented(): boolean {
    return tooMany(this.dropped, this.windows) || tooMany(this.removed, this.ids.length)
  }

  /** Returns the version of a memory's text in these columns; undefined when the memory is not in them. */
  versionOf(id: string): number | undefined {
    const row = this.rowOf(id)
    return row === undefined ? undefined : this.versions[row]
  }

  /** Adds or replaces a memory and returns its row. */
  put(memory: MemoryColumns): number {
    let row = this.byId.get(memory.id)
    if (row === undefined) {
      row = this.ids.push(memory.id) - 1
      this.byId.set(memory.id, row)
      if (row >= this.audience.length) this.growRows(row)
    }
    for (const name of this.weightNames) this.weights[name][row] = memory.weights[name]
    this.lengths[row] = memory.length
    this.expiresAt[row] = memory.expires_at ?? Infinity
    this.docs[row] = memory.doc ?? 0
    this.versions[row] = memory.version
    this.types[row] = this.typeOf(memory.type)
    this.audience[row] = this.audienceFor(memory)
    if (memory.doc !== null) this.byDoc.set(memory.doc, row)
    return row
  }

  private growRows(size: number): void {
    for (const name of this.weightNames) this.weights[name] = grown(this.weights[name], size)
    for (const name of ['expiresAt', 'docs', 'versions'] as const) this[name] = grown(this[name], size)
    this.lengths = grown(this.lengths, size)
    this.types = grown(this.types, size)
    this.audience = grown(this.audience, size)
  }

  private typeOf(name: string): number {
    const known = this.typeNames.indexOf(name)
    return known >= 0 ? known : this.typeNames.push(name) - 1
  }

  private audienceFor({ tenant_id, agent_id, team_id, scope }: Visibility): number {
    const key = `${scope} ${agent_id} ${team_id ?? ''}`
    let known = this.audienceOf.get(key)
    if (known === undefined) {
      known = this.audiences.push({ tenant_id, agent_id, team_id, scope, status: 'active', expires_at: null }) - 1
      this.audienceOf.set(key, known)
    }
    return known
  }

  /** If the memory comes back, it gets another row: the words of its old text stay cached for the old one. */
  remove(id: string): void {
    const row = this.byId.get(id)
    if (row === undefined) return
    this.byId.delete(id)
    this.removed++
    const doc = this.docs[row]!
    if (this.byDoc.get(doc) === row) this.byDoc.delete(doc) // the number may be another memory's by now
    this.audience[row] = -1
  }

  /** Returns the row of a memory; undefined when it is not in these columns. */
  rowOf(id: string): number | undefined {
    return this.byId.get(id)
  }

  /** Returns the weights of the score of the memory in a row. */
  weightsAt(row: number): Weights {
    return Object.fromEntries(this.weightNames.map((name) => [name, this.weights[name][row]!])) as unknown as Weights
  }

  /** Drops all present windows of the given memories. */
  dropWindows(ids: ReadonlySet<string>): void {
    const gone = new Set([...ids].map((id) => this.byId.get(id)).filter((row) => row !== undefined))
    this.windowChanges++
    if (gone.size === 0) return
    for (let i = 0; i < this.windows; i++) {
      const row = this.windowRows[i]!
      if (!gone.has(row)) continue
      this.meanings.delete(row, this.windowNumbers[i]!)
      this.windowRows[i] = -1
      this.dropped++
    }
  }

  addWindow(id: string, number: number, signature: Uint8Array): void {
    const row = this.byId.get(id)
    if (row === undefined) return
    if (this.signatureSize === 0) {
      this.signatureSize = signature.length
      this.stride = Math.ceil(signature.length / 4)
    }
    if (signature.length !== this.signatureSize) return // a model of the same name with other dimensions
    if (this.windows === this.windowRows.length) {
      this.windowRows = grown(this.windowRows, this.windows)
      this.windowNumbers = grown(this.windowNumbers, this.windows)
      const larger = new Uint32Array(this.windowRows.length * this.stride)
      larger.set(this.signatures)
      this.signatures = larger
    }
    const at = this.windows * this.stride
    for (let i = 0; i < signature.length; i++) this.signatures[at + (i >> 2)]! |= signature[i]! << ((i & 3) << 3)
    this.windowRows[this.windows] = row
    this.windowNumbers[this.windows] = number
    this.windows++
  }

  /** Returns which memories the viewer sees, and which of them the filters let through. */
  view({ viewer, scope, type, minConfidence, now, only }: ColumnFilter): View {
    const mask = new Uint8Array(this.ids.length)
    const { audience: audienceAt, expiresAt, lengths, types } = this
    const { confidence } = this.weights
    const seen = this.audiences.map((audience) => maySee(viewer, audience, now))
    const inScope = this.audiences.map((audience) => scope === null || audience.scope === scope)
    const wantedType = type === null ? -1 : this.typeNames.indexOf(type)
    let memories = 0
    let length = 0
    for (let row = 0; row < mask.length; row++) {
      const audience = audienceAt[row]!
      if (audience < 0 || !seen[audience] || expiresAt[row]! <= now) continue
      memories++
      length += lengths[row]!
      const wanted =
        inScope[audience] &&
        (type === null || types[row] === wantedType) &&
        confidence[row]! >= minConfidence &&
        (only === null || only.has(this.ids[row]!))
      mask[row] = wanted ? WANTED : SEEN
    }
    return { mask, memories, averageLength: memories > 0 ? length / memories : 0 }
  }

  /**
   * Returns the wanted windows that are probably the nearest to a vector: at least `many`, or all if there are fewer.
   * The score of a window is the sum of the vector's numbers, each taken with the sign in the window's signature. This
   * is far better than counting equal signs and costs no more: a table holds the sum for each value of each byte.
   */
  nearest(vector: Float32Array, view: View, many: number, yieldCpu: YieldCpu): Window[] {
    if (this.signatureSize !== Math.ceil(vector.length / 8)) return []
    const { stride, signatures, windows, windowRows } = this
    const { sums, most } = sumsOf(vector, stride * 4)
    // Sums lie in ±most. Each falls into a bucket, and the highest buckets that together hold enough are taken.
    const bucketOf = new Int16Array(windows)
    const histogram = new Int32Array(BUCKETS)
    const perUnit = BUCKETS / (2 * most)
    for (let i = 0; i < windows; i++) {
      if (i % STRETCH === 0) yieldCpu()
      bucketOf[i] = -1
      if (view.mask[windowRows[i]!] !== WANTED) continue // a dropped window has the row -1
      // Integers, four bytes at a time and in two sums: 7 ms for 100,000 windows, where floats byte by byte took 13.
      let low = 0
      let high = 0
      for (let word = 0, at = i * stride; word < stride; word++, at++) {
        const bits = signatures[at]!
        const table = word << 10
        low = (low + sums[table | (bits & 255)]! + sums[(table + 256) | ((bits >>> 8) & 255)]!) | 0
        high = (high + sums[(table + 512) | ((bits >>> 16) & 255)]! + sums[(table + 768) | (bits >>> 24)]!) | 0
      }
      const bucket = Math.min(BUCKETS - 1, Math.max(0, Math.floor((low + high + most) * perUnit)))
      bucketOf[i] = bucket
      histogram[bucket]!++
    }
    let least = BUCKETS - 1
    for (let found = histogram[least]!; least > 0 && found < many; ) found += histogram[--least]!
    const nearest: Window[] = []
    for (let i = 0; i < windows; i++)
      if (bucketOf[i]! >= least) nearest.push({ row: windowRows[i]!, number: this.windowNumbers[i]! })
    return nearest
  }

  /** Returns every window of the memories at these rows. */
  windowsAt(rows: ReadonlySet<number>): Window[] {
    const found: Window[] = []
    if (rows.size === 0) return found
    for (let i = 0; i < this.windows; i++) {
      const row = this.windowRows[i]!
      if (row >= 0 && rows.has(row)) found.push({ row, number: this.windowNumbers[i]! })
    }
    return found
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
