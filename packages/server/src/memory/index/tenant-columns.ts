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
import type { Weights } from '../rank.ts'
import { Postings } from './postings.ts'
import { grown, Signatures, tooMany, WANTED } from './signatures.ts'
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

/** What a search lets through. */
interface ColumnFilter {
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

export class TenantColumns {
  /** Unique to this instance: columns that are read again, or by another thread, may hold something else. */
  readonly name = randomUUID()
  readonly ids: string[] = []
  readonly byDoc = new Map<number, number>()
  readonly postings = new Postings()
  readonly windows = new Signatures()
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

  private removed = 0

  constructor(weightNames: readonly (keyof Weights)[]) {
    this.weightNames = weightNames
    this.weights = Object.fromEntries(weightNames.map((name) => [name, new Float64Array(0)])) as typeof this.weights
  }

  get bytes(): number {
    let spelt = 0
    for (const vocabulary of this.vocabularies.values()) spelt += vocabulary.size * WORD_BYTES
    return this.ids.length * 250 + this.windows.bytes + this.meanings.bytes + this.postings.bytes + spelt
  }

  /** Whether there are more dropped windows or removed memories than are worth skipping. */
  get fragmented(): boolean {
    return this.windows.fragmented || tooMany(this.removed, this.ids.length)
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
    for (const { row, number } of this.windows.drop(gone)) this.meanings.delete(row, number)
  }

  addWindow(id: string, number: number, signature: Uint8Array): void {
    const row = this.byId.get(id)
    if (row !== undefined) this.windows.add(row, number, signature)
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
}
