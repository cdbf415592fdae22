// Which memories of a tenant hold a word, and how often: read once from the full-text index, then cached and patched. A
// word that half of 50,000 memories hold takes 20 ms to read and 0.1 ms to iterate over.

export interface Posting {
  rows: Int32Array
  frequencies: Uint16Array
}

/** About the most that the cached words of one tenant may take. */
const MAX_BYTES = 16 * 1_048_576
/**
 * Words are evicted until this is left. One at a time took 30 µs each: an iteration passes the places of all words that
 * were deleted before.
 */
const LEFT_BYTES = MAX_BYTES * 0.875
/**
 * A word's string, map entry and two array headers, in bytes. Counted for every word: a caller can search for any
 * number of words that no memory holds.
 */
const EACH = 640

/** The text of a memory that is new or has changed. */
export interface ChangedText {
  row: number
  /** Whether the memory had another text before. */
  changed: boolean
  counts: ReadonlyMap<string, number>
}

export class Postings {
  // In the order of their last use, the oldest first.
  private readonly kept = new Map<string, Posting>()
  bytes = 0

  get(term: string): Posting | undefined {
    const posting = this.kept.get(term)
    if (!posting) return undefined
    this.kept.delete(term)
    this.kept.set(term, posting)
    return posting
  }

  put(term: string, posting: Posting): void {
    const before = this.kept.get(term)
    this.bytes += sizeOf(posting) - (before ? sizeOf(before) : 0)
    this.kept.set(term, posting)
    if (this.bytes <= MAX_BYTES) return
    for (const [oldest, each] of this.kept) {
      if (this.bytes <= LEFT_BYTES || oldest === term) break
      this.kept.delete(oldest)
      this.bytes -= sizeOf(each)
    }
  }

  clear(): void {
    this.kept.clear()
    this.bytes = 0
  }

  /** Brings the cached words up to date with new and changed texts. */
  patch(texts: readonly ChangedText[]): void {
    const changed = new Set(texts.filter((text) => text.changed).map(({ row }) => row))
    for (const [term, { rows, frequencies }] of this.kept) {
      const added = texts.filter(({ counts }) => counts.has(term))
      const stale = changed.size > 0 && rows.some((row) => changed.has(row))
      if (added.length === 0 && !stale) continue
      const left = [...rows.keys()].filter((i) => !stale || !changed.has(rows[i]!))
      this.put(
        term,
        posting(
          [...left.map((i) => rows[i]!), ...added.map(({ row }) => row)],
          [...left.map((i) => frequencies[i]!), ...added.map(({ counts }) => counts.get(term)!)],
        ),
      )
    }
  }
}

const sizeOf = ({ rows, frequencies }: Posting): number => rows.byteLength + frequencies.byteLength + EACH

/** Merges the forms of one word. A memory holds the word as often as the form that it holds most often. */
export function mergeForms(forms: readonly Posting[]): Posting {
  const some = forms.filter(({ rows }) => rows.length > 0)
  if (some.length <= 1) return some[0] ?? posting([], [])
  const most = new Map<number, number>()
  for (const { rows, frequencies } of some)
    rows.forEach((row, i) => most.set(row, Math.max(frequencies[i]!, most.get(row) ?? 0)))
  return posting([...most.keys()], [...most.values()])
}

export function posting(rows: readonly number[], frequencies: readonly number[]): Posting {
  // Filled in a loop: `from` with a function takes four times as long, and a common word has a hundred thousand
  // entries.
  const made = { rows: new Int32Array(rows.length), frequencies: new Uint16Array(rows.length) }
  for (let i = 0; i < rows.length; i++) {
    made.rows[i] = rows[i]!
    made.frequencies[i] = Math.min(frequencies[i]!, 65_535)
  }
  return made
}
