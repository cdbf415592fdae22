// Cuts texts into the tokens of the built-in model, a slice of a text at a time: the longest text takes a tenth of a
// second, and a query must not wait for all of it.
import { Tokenizer } from '@huggingface/tokenizers'
import { withFewerMarks } from '../../kernel/fewer-marks.ts'
import { carriesMeaning } from './tokens.ts'

export interface Token {
  id: number
  carriesMeaning: boolean
  /** The whole word that the token is a piece of. */
  word: string
}

/** Characters of a slice: with most texts about as many as a window of the model has. */
const SLICE = 1_024

/**
 * The tokenizer never has a word across these: white space, two marks, and Chinese characters, each of which is a word.
 * Not the full stop: a Greek letter before it has the form that fits what comes after it.
 */
const BEGINS_ANEW = /[ \t\n\r,;\u4e00-\u9fff]/g

/** Returns a text in slices that cut no word. A slice is longer than SLICE only if there is no place to cut it. */
export function* wordSlicesOf(whole: string): Generator<string> {
  const text = withFewerMarks(whole)
  for (let start = 0; start < text.length; ) {
    BEGINS_ANEW.lastIndex = start + SLICE
    const end = BEGINS_ANEW.exec(text)?.index ?? text.length
    yield text.slice(start, end)
    start = end
  }
}

/** The words that a tokenizer knows, and the pieces of words, which begin with `##`. */
interface Vocabulary {
  has(piece: string): boolean
  /** In characters, without the `##`. */
  longest: number
}

/** A longer word is unknown. The model was trained so. */
const MAX_WORD = 100
const UNKNOWN = '[UNK]'

/**
 * Returns a word as the longest pieces that the vocabulary has, from left to right. The tokenizer's own function tries
 * the whole rest of the word at every piece, which took seven seconds for a memory of words of a hundred letters.
 */
export function piecesOf(word: string, vocabulary: Vocabulary): string[] {
  if (word.length > MAX_WORD && [...word].length > MAX_WORD) return [UNKNOWN]
  const pieces: string[] = []
  for (let start = 0; start < word.length; ) {
    const prefix = start === 0 ? '' : '##'
    let end = Math.min(word.length, start + vocabulary.longest)
    while (end > start && !vocabulary.has(prefix + word.slice(start, end))) end--
    if (end === start) return [UNKNOWN]
    pieces.push(prefix + word.slice(start, end))
    start = end
  }
  return pieces
}

/** Returns a function that cuts a slice into tokens; its arguments are the two files of the model's tokenizer. */
export function makeTokenise(definition: object, config: object): (slice: string) => Token[] {
  // The file asks for padding to 128, which would make a short text cost as much as a long one.
  const tokenizer = new Tokenizer({ ...definition, padding: null, truncation: null }, config)
  const ids: ReadonlyMap<string, number> = tokenizer.model!.tokens_to_ids
  const longest = [...ids.keys()].reduce((most, piece) => Math.max(most, piece.replace(/^##/, '').length), 0)
  const vocabulary: Vocabulary = { has: (piece) => ids.has(piece), longest }
  tokenizer.model!.encode = (words: string[]): string[] => words.flatMap((word) => piecesOf(word, vocabulary))

  return (slice) => {
    const encoded: { tokens: string[]; ids: number[] } = tokenizer.encode(slice, { add_special_tokens: false })
    const words = wordsOf(encoded.tokens)
    return encoded.tokens.map((token, i) => ({
      id: encoded.ids[i]!,
      carriesMeaning: carriesMeaning(token),
      word: words[i]!,
    }))
  }
}

/** Returns, for each token, the whole word that it is a piece of. */
function wordsOf(tokens: readonly string[]): string[] {
  const words: string[] = []
  const wordAt = tokens.map((token) => {
    if (token.startsWith('##') && words.length > 0) words[words.length - 1] += token.slice(2)
    else words.push(token)
    return words.length - 1
  })
  return wordAt.map((at) => words[at]!)
}
