// What a search of the embedded store reads of a tenant, kept in memory by the search thread: who may see each memory, what
// weighs on its score, and the signature of each of its windows. 400 bytes a memory; the texts, words and vectors stay on disk.
//
// Why: a join of words or signatures with the rows that say who may see them costs a microsecond a row, 50 to 130 ms for a tenant
// of 50,000 memories; over these arrays it is two.
//
// 1. A shelf is brought up to date before each search, from the log of changes that triggers write with the changes themselves.
// 2. The windows of a changed text are left behind, and are gone when the shelf is filled anew.
import { maySee, type Viewer, type Visibility } from './see.ts'

export interface ShelfRow extends Visibility {
  id: string
  type: string
  confidence: number
  importance: number
  fresh_at: number
  doc: number
  length: number
}

export interface SignatureRow {
  memory_id: string
  part: number
  signature: Uint8Array
}

const SEEN = 1
const WANTED = 2

export interface Filter {
  viewer: Viewer
  scope: string | null
  type: string | null
  minConfidence: number
  now: number
}

/** Each place as `SEEN` (counts for the statistics of words) or `WANTED` (passes the filters too). */
export interface View {
  mask: Uint8Array
  memories: number
  averageLength: number
}

export const isSeen = (view: View, place: number): boolean => view.mask[place]! >= SEEN
export const isWanted = (view: View, place: number): boolean => view.mask[place] === WANTED

export class Shelf {
  readonly rows: (ShelfRow | null)[] = []
  readonly byDoc = new Map<number, number>()
  /** The change this shelf has seen last. */
  seq = 0
  private readonly byId = new Map<string, number>()
  private readonly names = new Map<string, string>()
  private size = 0 // bytes of a signature; the first one says
  private signatures = new Uint8Array(0)
  private places = new Int32Array(0)
  private parts = new Int16Array(0)
  private count = 0
  private left = 0

  get bytes(): number {
    return this.rows.length * 350 + this.signatures.length + this.count * 6
  }

  /** More is left behind than is worth stepping over. */
  get worn(): boolean {
    return this.left > 1000 && this.left * 3 > this.count
  }

  get windows(): number {
    return this.count
  }

  placeOf(id: string): number | undefined {
    return this.byId.get(id)
  }

  put(row: ShelfRow): void {
    let place = this.byId.get(row.id)
    if (place === undefined) {
      place = this.rows.length
      this.byId.set(row.id, place)
    }
    // Copied: a row of the driver takes three times the space, and every one has names of its own for the same agent and team.
    const { id, type, confidence, importance, fresh_at, doc, length, tenant_id, agent_id, team_id, scope, status, expires_at } = row
    this.rows[place] = {
      id, type: this.same(type), confidence, importance, fresh_at, doc, length, tenant_id: this.same(tenant_id), agent_id: this.same(agent_id),
      team_id: team_id && this.same(team_id), scope: this.same(scope), status: this.same(status), expires_at,
    }
    this.byDoc.set(doc, place)
  }

  private same<T extends string>(name: T): T {
    const known = this.names.get(name)
    if (known !== undefined) return known as T
    this.names.set(name, name)
    return name
  }

  remove(id: string): void {
    const place = this.byId.get(id)
    if (place === undefined) return
    const doc = this.rows[place]?.doc ?? -1
    if (this.byDoc.get(doc) === place) this.byDoc.delete(doc) // the number may be another memory's by now
    this.rows[place] = null
  }

  /** Its windows up to now count no more. */
  forget(ids: ReadonlySet<string>): void {
    const gone = new Set([...ids].map((id) => this.byId.get(id)).filter((place) => place !== undefined))
    if (gone.size === 0) return
    for (let i = 0; i < this.count; i++) {
      if (!gone.has(this.places[i]!)) continue
      this.places[i] = -1
      this.left++
    }
  }

  sign({ memory_id, part, signature }: SignatureRow): void {
    const place = this.byId.get(memory_id)
    if (place === undefined) return
    if (this.size === 0) this.size = signature.length
    if (signature.length !== this.size) return // another model's, or the same with other dimensions
    if (this.count === this.places.length) this.grow()
    this.signatures.set(signature, this.count * this.size)
    this.places[this.count] = place
    this.parts[this.count] = part
    this.count++
  }

  private grow(): void {
    const room = Math.max(1024, this.places.length * 2)
    const signatures = new Uint8Array(room * this.size)
    signatures.set(this.signatures)
    const places = new Int32Array(room)
    places.set(this.places)
    const parts = new Int16Array(room)
    parts.set(this.parts)
    Object.assign(this, { signatures, places, parts })
  }

  /** What the viewer sees, and what of it is wanted. */
  view({ viewer, scope, type, minConfidence, now }: Filter): View {
    const mask = new Uint8Array(this.rows.length)
    let memories = 0
    let length = 0
    for (let place = 0; place < this.rows.length; place++) {
      const row = this.rows[place]
      if (!row || !maySee(viewer, row, now)) continue
      memories++
      length += row.length
      const wanted = (scope === null || row.scope === scope) && (type === null || row.type === type) && row.confidence >= minConfidence
      mask[place] = wanted ? WANTED : SEEN
    }
    return { mask, memories, averageLength: memories > 0 ? length / memories : 0 }
  }

  /**
   * The wanted windows that are likely the nearest to a vector, at least `many` of them if there are: those whose signs add up to
   * the most when each counts with the vector's own number. Better by far than counting equal signs, and no dearer: a table holds
   * the sum for each value of each byte.
   */
  nearest(vector: Float32Array, view: View, many: number): { place: number; part: number; likeness: number }[] {
    if (this.size !== Math.ceil(vector.length / 8)) return []
    const sums = new Float32Array(this.size * 256)
    for (let byte = 0; byte < this.size; byte++) {
      for (let value = 0; value < 256; value++) {
        let sum = 0
        for (let bit = 0; bit < 8; bit++) sum += (value >> bit) & 1 ? vector[byte * 8 + bit] ?? 0 : -(vector[byte * 8 + bit] ?? 0)
        sums[byte * 256 + value] = sum
      }
    }
    const likeness = new Float32Array(this.count)
    const histogram = new Int32Array(BUCKETS)
    let most = 0
    for (const x of vector) most += Math.abs(x)
    const bucket = (sum: number): number => Math.min(BUCKETS - 1, Math.max(0, Math.floor(((sum / most + 1) / 2) * BUCKETS)))
    for (let i = 0; i < this.count; i++) {
      const place = this.places[i]!
      if (place < 0 || view.mask[place] !== WANTED) continue
      let sum = 0
      const at = i * this.size
      for (let byte = 0; byte < this.size; byte++) sum += sums[(byte << 8) + this.signatures[at + byte]!]!
      likeness[i] = sum
      histogram[bucket(sum)]!++
    }
    let least = BUCKETS - 1
    for (let found = histogram[least]!; least > 0 && found < many; ) found += histogram[--least]!
    const nearest: { place: number; part: number; likeness: number }[] = []
    for (let i = 0; i < this.count; i++) {
      const place = this.places[i]!
      if (place < 0 || view.mask[place] !== WANTED || bucket(likeness[i]!) < least) continue
      nearest.push({ place, part: this.parts[i]!, likeness: likeness[i]! })
    }
    return nearest
  }
}

const BUCKETS = 4096
