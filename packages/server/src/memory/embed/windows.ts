// Cuts a text into windows of the built-in model, as far as the caller asks for them.
import { wordSlicesOf, type Token } from './tokenise.ts'

/** Tokens of the window the model was trained for, including the two special tokens. */
const WINDOW = 256
/** Tokens that neighbouring windows share, so that no sentence is cut in every window it is in. */
const OVERLAP = 32
const UNKNOWN = 100
const CLS = 101
const SEP = 102
/** The share of unknown tokens above which a window says nothing: Thai texts of any content have a cosine of 1. */
const MOST_UNKNOWN = 1 / 3

/** A window of a text: its token ids, and which of them carry meaning. */
export interface Windowed {
  ids: number[]
  meaning: boolean[]
  /** The words of the tokens that carry meaning. */
  words: string[]
  /** The model knows too few of its tokens. */
  isUnread: boolean
}

/** Yields the windows of a text, one or more. For each, no more of the text is cut into tokens than it needs. */
export type Windows = (text: string) => Generator<Windowed, void>

export const makeWindows = (tokenise: (slice: string) => Token[]): Windows =>
  function* windows(text) {
    const room = WINDOW - 2
    let tokens: Token[] = []
    for (const slice of wordSlicesOf(text)) {
      tokens = [...tokens, ...tokenise(slice)]
      let start = 0
      for (; start + room < tokens.length; start += room - OVERLAP) yield windowOf(tokens.slice(start, start + room))
      tokens = tokens.slice(start)
    }
    yield windowOf(tokens)
  }

const windowOf = (tokens: readonly Token[]): Windowed => ({
  ids: [CLS, ...tokens.map(({ id }) => id), SEP],
  meaning: [false, ...tokens.map(({ carriesMeaning }) => carriesMeaning), false],
  words: tokens.filter(({ carriesMeaning }) => carriesMeaning).map(({ word }) => word),
  isUnread: tokens.filter(({ id }) => id === UNKNOWN).length > MOST_UNKNOWN * tokens.length,
})
