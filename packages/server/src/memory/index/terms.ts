// Splits a text into the words by which it is found: lower case, without accents, stemmed, without the small words of
// its language. Pure.
//
// Scripts without spaces: Thai, Lao, Khmer and Burmese are segmented by a dictionary. In Chinese and Japanese texts
// every ideograph and every pair of characters is indexed. Only the question is segmented by a dictionary, and its
// pairs are taken inside of words. So a word is found no matter how the text around it would be segmented, and a long
// text is not segmented on the main thread, which takes 40 ms where pairs take 2.
import { beginningOf } from '../../kernel/beginning-of.ts'
import { withFewerMarks } from '../../kernel/fewer-marks.ts'
import { atOnce } from '../../kernel/step-turns.ts'
import { isEnglish, languagesOf, russianSmallWords, smallWords, type Language } from './languages.ts'
import { formsOf, unaccented } from './word-forms.ts'

/**
 * How often a word of the title counts, against once in the content: measured, 1.1 and 1.6 points of nDCG over once.
 */
export const TITLE_WEIGHT = 3
/**
 * The most characters of a word. Nobody types a longer one, and a blob of base64 should not fill the index. The primary
 * key of words on PostgreSQL holds some 2,600 bytes.
 */
const MAX_WORD = 64

/** A word of a text, as the list of forms by which it is found. */
export type Word = readonly string[]

/** Letters and digits with the marks that follow them; a pictograph is a word too. */
const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*|\p{Extended_Pictographic}/gu
const PAIRED = '\\p{scx=Han}\\p{scx=Hiragana}\\p{scx=Katakana}'
const CUT = '\\p{scx=Thai}\\p{scx=Lao}\\p{scx=Khmer}\\p{scx=Myanmar}'
const NO_SPACES = new RegExp(`[${PAIRED}${CUT}]`, 'u')
const IS_PAIRED = new RegExp(`[${PAIRED}]`, 'u')
/** Runs of one kind of script. A combining mark belongs to the character before it. */
const PIECES = new RegExp(`[${PAIRED}][${PAIRED}\\p{M}]*|[${CUT}][${CUT}\\p{M}]*|[^${PAIRED}${CUT}]+`, 'gu')
const IDEOGRAPH = /\p{Script=Han}/u
const segmenter = new Intl.Segmenter('und', { granularity: 'word' })

/** Endings and particles of Japanese that are as common as `the`. */
const PARTICLES = new Set(
  'の は を が に で と も へ や か ね よ た だ し て な さ れ る っ ま う ん です ます した して から まで より など こと もの する いる ある ない れる くだ さい'.split(
    ' ',
  ),
)

function* pairsOf(run: string): Generator<string> {
  const characters = [...run]
  for (const character of characters) if (characters.length === 1 || IDEOGRAPH.test(character)) yield character
  for (let i = 0; i + 1 < characters.length; i++) yield characters[i]! + characters[i + 1]!
}

/**
 * Characters of a run in a question that are segmented: they hold more words than are looked up, and take 4 ms where
 * 4,096 take 30.
 */
const MAX_CUT = 512

/** The terms of a question: pairs inside words, words of one character, and pairs of ideographs across words. */
function* askedTerms(run: string): Generator<string> {
  let last = ''
  for (const { segment } of segmenter.segment(beginningOf(run, MAX_CUT))) {
    const characters = [...segment]
    const [first] = characters
    if (IDEOGRAPH.test(last) && IDEOGRAPH.test(first!)) yield last + first!
    last = characters.at(-1)!
    if (PARTICLES.has(segment)) continue
    if (characters.length === 1) yield segment
    for (let i = 0; i + 1 < characters.length; i++) yield characters[i]! + characters[i + 1]!
  }
}

type Kind = 'text' | 'question'

/** How many times its length a text of more than LEAST characters may have once it is normalised. */
const MAX_GROWTH = 2
const LEAST = 8_192

/**
 * Normalises a text. Some characters become many, U+FDFA eighteen: 32,768 of them had 98,000 words, which held up
 * everybody for half a second. No text that somebody reads grows to more than twice its length; of one that does, the
 * words of the rest are left out.
 */
const normalised = (text: string): string =>
  beginningOf(withFewerMarks(text).normalize('NFKC'), Math.max(LEAST, MAX_GROWTH * text.length)).toLowerCase()

/** Returns the words of a text as they are written, in lower case. */
const written = (text: string): string[] => Array.from(normalised(text).matchAll(WORD), ([word]) => word)

/** Ends a piece. A newline always stands alone, and what is beside it is segmented as at the ends of a text. */
const END = '\n'
const isCut = (piece: string): boolean => NO_SPACES.test(piece) && !IS_PAIRED.test(piece)

/**
 * Segments all pieces of a text that a dictionary segments, in their order, each followed by END. One call for all of
 * them: a text with a Latin letter after each Thai one has 16,384 pieces, and as many calls took 90 ms where one takes
 * 12.
 */
function* segmentsOf(text: readonly string[], kind: Kind): Generator<string, string> {
  const pieces = text.flatMap((word) => word.match(PIECES) ?? []).filter(isCut)
  const taken = kind === 'text' ? pieces : pieces.map((piece) => beginningOf(piece, MAX_CUT))
  for (const { segment } of segmenter.segment(taken.join(END))) yield segment
  return END
}

/** How much is done in a step, about a millisecond: terms, and words, of which one takes as long as eight terms. */
const STEP = 2_048
const WORD_COST = 8

/** Finds words, in steps. */
function* wordsIn(
  text: readonly string[],
  languages: readonly Language[],
  kind: Kind,
  found: (word: Word) => void,
): Generator<void, void> {
  let left = STEP
  const isStepOver = (cost: number): boolean => {
    left -= cost
    if (left > 0) return false
    left = STEP
    return true
  }
  const small = languages.length === 1 ? smallWords[languages[0]!] : smallWords.en
  const addWord = (word: string): void => {
    const plain = unaccented(word)
    if (!small.has(plain) && !russianSmallWords.has(plain)) found(formsOf(beginningOf(word, MAX_WORD), languages))
  }
  const segments = segmentsOf(text, kind) // does nothing before the first segment is taken
  for (const word of text) {
    if (!NO_SPACES.test(word)) {
      addWord(word)
      if (isStepOver(WORD_COST)) yield
      continue
    }
    for (const [piece] of word.matchAll(PIECES)) {
      if (!NO_SPACES.test(piece)) addWord(piece)
      else if (isCut(piece))
        for (let segment = segments.next().value; segment !== END; segment = segments.next().value) {
          found([beginningOf(segment, MAX_WORD)])
          if (isStepOver(1)) yield
        }
      else
        for (const term of kind === 'text' ? pairsOf(piece) : askedTerms(piece)) {
          found([term])
          if (isStepOver(1)) yield
        }
      if (isStepOver(WORD_COST)) yield
    }
  }
}

/** Characters by which the language of a text is detected. */
const TOLD_BY = 4_096

const ownLanguages = (text: readonly string[]): readonly Language[] => languagesOf(text.map(unaccented))

/** Returns whether a text is in English, by its beginning; undefined if that is unclear. */
export const isEnglishText = (text: string): boolean | undefined =>
  isEnglish(written(text.slice(0, TOLD_BY)).map(unaccented))

/** Returns the words of a question, each once. Words that share a form are merged. */
export function askedWords(query: string): { words: Word[]; languages: readonly Language[] } {
  const text = written(query)
  const languages = ownLanguages(text)
  const words: string[][] = []
  const wordOf = new Map<string, string[]>()
  const addWord = (forms: Word): void => {
    let word = forms.map((form) => wordOf.get(form)).find((found) => found !== undefined)
    if (!word) words.push((word = []))
    for (const form of forms) {
      if (!wordOf.has(form)) word.push(form)
      wordOf.set(form, wordOf.get(form) ?? word)
    }
  }
  atOnce(wordsIn(text, languages, 'question', addWord))
  return { words, languages }
}

/** Finds the words of a stored text, in their order and as often as they occur, in steps. */
export function* wordSteps(text: string, found: (word: Word) => void): Generator<void, void> {
  const all = written(text)
  if (text.length > TOLD_BY) yield
  const languages = ownLanguages(text.length > TOLD_BY ? written(text.slice(0, TOLD_BY)) : all)
  yield* wordsIn(all, languages, 'text', found)
}

/**
 * The most different forms of a memory that are indexed. English text of 32,768 characters has some 2,500; a text of
 * that many different characters had 45,000, which took half a second to write.
 */
export const MAX_DISTINCT = 8_192

export interface Counted {
  /** Weighted frequency of each form. */
  counts: Map<string, number>
  /** The number of words, with those of the title counted three times: the length that BM25 compares. */
  length: number
}

/**
 * Counts the words that are indexed: all, or the first of a text with very many different words. In steps. Words are
 * counted as they are found: a list of 45,000 words and their forms lived through many of V8's young collections.
 */
export function* countSteps(title: string, content: string): Generator<void, Counted> {
  const counts = new Map<string, number>()
  let length = 0
  const counter =
    (weight: number) =>
    (forms: Word): void => {
      if (counts.size >= MAX_DISTINCT && !forms.every((form) => counts.has(form))) return
      for (const form of forms) counts.set(form, (counts.get(form) ?? 0) + weight)
      length += weight
    }
  yield* wordSteps(title, counter(TITLE_WEIGHT))
  yield* wordSteps(content, counter(1))
  return { counts, length }
}

/** Changes whenever these rules change. Memories that were indexed by older rules are indexed again. */
export const WORD_RULES = 3
