// Computes what a memory is found by before the transaction that writes it: its folded texts, its grams and its words
// in the form of the engine. For 32,768 Chinese characters that takes 100 ms, during which no other request would get
// its turn.
import { atOnce, inSteps, makeStepTurns } from '../../kernel/step-turns.ts'
import { makeTurns } from '../../kernel/turns.ts'
import type { Caller } from '../../store/db.ts'
import { fold } from './fold.ts'
import { gramsOf, gramSteps, seedOf } from './grams.ts'
import { countSteps, type Counted } from './terms.ts'

/**
 * Makes words into the form in which an engine writes them, in steps: one part, or several of a text with many
 * different words, each of them short enough for a transaction of its own.
 */
export type Encode<W> = (tenantId: string, counts: Counted['counts']) => Generator<void, W[]>

/** The folded texts of a memory and their grams. */
export interface Folded {
  title: string
  content: string
  grams: ReadonlySet<number>
}

/** What a memory is found by. */
interface Analysed<W> extends Folded {
  parts: readonly W[]
  /** The length of the text that BM25 compares. */
  length: number
}

export interface Texts {
  tenant_id: string
  title: string
  content: string
}

/** A caller, and whether its client has gone away: what it waits for is then not begun, or not continued. */
export interface WaitingCaller extends Caller {
  isGone?(): boolean
}

export interface Ahead {
  /** Resolves when the words of these texts are all written, if a transaction has put a memory with them. */
  written(): Promise<void>
}

interface Analyse<W> {
  /**
   * Analyses long texts in steps. A turn of the event loop has one step for all callers together. Rejects if the client
   * goes away meanwhile.
   */
  analyseAhead(caller: WaitingCaller, title: string, content: string): Promise<Ahead>
  /**
   * Returns the analysis of texts that were analysed ahead; analyses any others now. The analysis stays until it is
   * dropped: a transaction may be run again.
   */
  take(texts: Texts): Taken<W>
  /** The same without the words. */
  takeFolded(texts: Texts): Folded
  /** Drops one analysis of these texts. Others may have sent the same. */
  drop(texts: Texts): void
}

/** An analysis for a transaction. */
export interface Taken<W> extends Analysed<W> {
  /**
   * Called with a write of the words after the transaction, for which `written` waits. Null if the texts were not
   * analysed ahead, and so nobody waits.
   */
  noteWrite: ((written: Promise<void>) => void) | null
}

/** Of texts that are not analysed ahead, all words are written in the transaction. */
export const NOTHING_AHEAD: Ahead = { written: async () => {} }

/** Title and content that are shorter together take less than three milliseconds. */
export const LONG = 4_096
/** The most analyses that are kept for a transaction to come. One takes up to 4 MB. */
const MOST_READY = 8
/**
 * Analyses under way at once, and how many of them are kept for tenants with none. A thousand texts of one agent, each
 * analysed a little, took 4 GB; the others wait as texts.
 */
const AT_ONCE = 4
const KEPT = 2
/** Each that waits holds its text: 128 MB of all tenants together. */
const MOST_WAITING = { perAgent: 256, total: 2_048 } as const

function* analysisSteps<W>(encode: Encode<W>, { tenant_id, title, content }: Texts): Generator<void, Analysed<W>> {
  const folded = { title: fold(title), content: fold(content) }
  yield
  const counted = yield* countSteps(title, content)
  yield
  const parts = yield* encode(tenant_id, counted.counts)
  yield
  const grams = yield* gramSteps(seedOf(tenant_id), folded.title, folded.content)
  return { ...folded, grams, parts, length: counted.length }
}

function foldedOf({ tenant_id, ...texts }: Texts): Folded {
  const [title, content] = [fold(texts.title), fold(texts.content)]
  return { title, content, grams: gramsOf(seedOf(tenant_id), title, content) }
}

interface Ready<W> {
  texts: Texts
  analysed: Analysed<W>
  /** The writes of the words of all that sent these texts: which of them a transaction was for is not known. */
  writes: Promise<void>[]
}

/** `hasRoom` resolves when another text may be analysed: those before it are written, or nearly. */
export function makeAnalyse<W>(encode: Encode<W>, hasRoom: () => Promise<void> = async () => {}): Analyse<W> {
  const ready: Ready<W>[] = []
  const analyses = makeTurns({ what: 'long texts waiting', atOnce: AT_ONCE, kept: KEPT, ...MOST_WAITING })
  const turns = makeStepTurns()
  const isOf =
    ({ tenant_id, title, content }: Texts) =>
    ({ texts }: { texts: Texts }): boolean =>
      texts.content === content && texts.title === title && texts.tenant_id === tenant_id

  return {
    async analyseAhead(caller, title, content) {
      if (title.length + content.length < LONG) return NOTHING_AHEAD
      // As they are stored: a text with half a surrogate pair would not be found again.
      const { tenantId, id } = caller
      const texts = { tenant_id: tenantId, title: title.toWellFormed(), content: content.toWellFormed() }
      const pause = async (): Promise<void> => {
        await turns.take(tenantId, id)
        if (caller.isGone?.()) throw new Error('the client went away')
      }
      const analysed = await analyses.take(tenantId, id, async () => {
        await hasRoom()
        await pause()
        return inSteps(analysisSteps(encode, texts), pause)
      })
      await pause()
      if (ready.length >= MOST_READY) ready.shift()
      const writes = ready.find(isOf(texts))?.writes ?? []
      ready.push({ texts, analysed, writes })
      return { written: async () => void (await Promise.all(writes)) }
    },
    take(texts) {
      const kept = ready.find(isOf(texts))
      if (!kept) return { ...atOnce(analysisSteps(encode, texts)), noteWrite: null }
      // Later texts may have taken its place when the transaction is over.
      const { analysed, writes } = kept
      return { ...analysed, noteWrite: (written) => void writes.push(written) }
    },
    takeFolded: (texts) => ready.find(isOf(texts))?.analysed ?? foldedOf(texts),
    drop(texts) {
      const at = ready.findIndex(isOf(texts))
      if (at >= 0) ready.splice(at, 1)
    },
  }
}
