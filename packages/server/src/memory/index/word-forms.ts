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
const HANGUL = /^\p{Script=Hangul}+$/u
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

/** Particles that Korean writes at the end of a word, the longest first. */
const KOREAN_PARTICLES =
  '에서부터 으로부터 에게서 한테서 이라고 에서 에게 한테 께서 까지 부터 으로 처럼 보다 마다 조차 밖에 이나 이랑 하고 라고 은 는 이 가 을 를 의 에 도 만 와 과 로'.split(
    ' ',
  )

/**
 * Yields a Korean word without its particles, which may follow each other. Some words end like a particle: what is left
 * of them finds a little more, because the whole word is always a form too.
 */
function* withoutParticles(word: string): Generator<string> {
  for (let rest = word, least = 1; ; least = 2) {
    const particle = KOREAN_PARTICLES.find((end) => rest.endsWith(end) && rest.length - end.length >= least)
    if (particle === undefined) return
    rest = rest.slice(0, -particle.length)
    yield rest
  }
}

function findForms(word: string, languages: readonly Language[]): readonly string[] {
  const plain = unaccented(word)
  const forms = new Set([stem(plain)])
  // Other Slavic languages with Cyrillic letters have most of their endings in common with Russian.
  if (CYRILLIC.test(plain)) forms.add(unaccented(russian(word)))
  if (HANGUL.test(plain)) for (const form of withoutParticles(plain)) forms.add(form)
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
