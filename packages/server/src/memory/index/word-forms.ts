// The forms under which a word is found: its English stem, and its stem in each language that the text may be in. The
// English stem is always one of them, so that a word is found by itself even if the language was guessed wrong.
import { stemmer as german } from '@orama/stemmers/german'
import { stemmer as french } from '@orama/stemmers/french'
import { stemmer as spanish } from '@orama/stemmers/spanish'
import { stemmer as portuguese } from '@orama/stemmers/portuguese'
import { stemmer as italian } from '@orama/stemmers/italian'
import { stemmer as dutch } from '@orama/stemmers/dutch'
import { stemmer as russian } from '@orama/stemmers/russian'
import type { Language } from './languages.ts'
import { stem } from './stem.ts'

const STEMMERS: Record<Exclude<Language, 'en'>, (word: string) => string> = {
  de: german,
  fr: french,
  es: spanish,
  pt: portuguese,
  it: italian,
  nl: dutch,
}

const ASCII = /^[\x00-\x7f]*$/
const LATIN = /^\p{Script=Latin}+$/u
const CYRILLIC = /^\p{Script=Cyrillic}+$/u
const MARKS = /[\u0300-\u036f]/g
/** Letters that Unicode does not decompose, as they are typed on keyboards that do not have them. */
const LETTERS: Record<string, string> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd', þ: 'th', ı: 'i' }
const LETTER = /[ßæœøłđðþı]/g

/** Removes accents. */
export const unaccented = (text: string): string =>
  ASCII.test(text)
    ? text
    : text
        .normalize('NFKD')
        .replace(MARKS, '')
        .normalize('NFC')
        .replace(LETTER, (letter) => LETTERS[letter]!)

/** `ae`, `oe` and `ue` may stand for ä, ö and ü: German words are typed in both spellings. */
const TYPED_UMLAUT = /(^|[^q])([aou])e/g

function findForms(word: string, languages: readonly Language[]): readonly string[] {
  const plain = unaccented(word)
  const forms = new Set([stem(plain)])
  // Other Slavic languages with Cyrillic letters have most of their endings in common with Russian.
  if (CYRILLIC.test(plain)) forms.add(unaccented(russian(word)))
  if (!LATIN.test(plain)) return [...forms]
  for (const language of languages) {
    if (language === 'en') continue
    // Stemmed with its accents, which tell endings apart, and without, as it may be typed.
    forms.add(unaccented(STEMMERS[language](word))).add(STEMMERS[language](plain))
    if (language === 'de') forms.add(german(plain.replaceAll(TYPED_UMLAUT, '$1$2')))
  }
  forms.delete('')
  return [...forms]
}

// Stemming is most of the work, and most words recur.
const known = new Map<string, readonly string[]>()
const MAX_KNOWN = 50_000

const keyOf = (word: string, languages: readonly Language[]): string =>
  `${languages.length === 1 ? languages[0]! : languages.length} ${word}`

/**
 * Returns a word by itself. A word that was found in a text is a slice of it, and a cached slice would keep the whole
 * text in memory: up to 128 KB for each word. V8 makes no slices of fewer than 13 characters.
 */
const copyOf = (word: string): string => (word.length < 13 ? word : Buffer.from(word, 'utf16le').toString('utf16le'))

/** Returns the forms of a word that is in lower case; its English stem is the first. */
export function formsOf(word: string, languages: readonly Language[]): readonly string[] {
  let forms = known.get(keyOf(word, languages))
  if (forms === undefined) {
    if (known.size >= MAX_KNOWN) known.clear()
    const own = copyOf(word)
    known.set(keyOf(own, languages), (forms = findForms(own, languages)))
  }
  return forms
}
