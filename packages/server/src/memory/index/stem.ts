// The Porter stemmer (M. F. Porter, "An algorithm for suffix stripping", 1980). It strips the endings of English words,
// so that `connected` and `connection` have the same stem. Words that are not plain a–z are returned unchanged.

const C = '[^aeiou]'
const V = '[aeiouy]'
const CC = `${C}[^aeiouy]*`
const VV = `${V}[aeiou]*`

const MORE_THAN_0 = new RegExp(`^(${CC})?${VV}${CC}`)
const EXACTLY_1 = new RegExp(`^(${CC})?${VV}${CC}(${VV})?$`)
const MORE_THAN_1 = new RegExp(`^(${CC})?${VV}${CC}${VV}${CC}`)
const HAS_VOWEL = new RegExp(`^(${CC})?${V}`)
const ENDS_CVC = new RegExp(`^${CC}${V}[^aeiouwxy]$`)
const DOUBLE = /([^aeiouylsz])\1$/

const STEP_2: readonly (readonly [string, string])[] = [
  ['ational', 'ate'],
  ['tional', 'tion'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['izer', 'ize'],
  ['bli', 'ble'],
  ['alli', 'al'],
  ['entli', 'ent'],
  ['eli', 'e'],
  ['ousli', 'ous'],
  ['ization', 'ize'],
  ['ation', 'ate'],
  ['ator', 'ate'],
  ['alism', 'al'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['aliti', 'al'],
  ['iviti', 'ive'],
  ['biliti', 'ble'],
  ['logi', 'log'],
]
const STEP_3: readonly (readonly [string, string])[] = [
  ['icate', 'ic'],
  ['ative', ''],
  ['alize', 'al'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ful', ''],
  ['ness', ''],
]
const STEP_4 = [
  'al',
  'ance',
  'ence',
  'er',
  'ic',
  'able',
  'ible',
  'ant',
  'ement',
  'ment',
  'ent',
  'ou',
  'ism',
  'ate',
  'iti',
  'ous',
  'ive',
  'ize',
]

function replaceEnding(word: string, endings: readonly (readonly [string, string])[]): string {
  // The longest matching ending decides, even if the part before it turns out to be too short.
  let best: readonly [string, string] | undefined
  for (const pair of endings) if (word.endsWith(pair[0]) && (!best || pair[0].length > best[0].length)) best = pair
  if (!best) return word
  const base = word.slice(0, -best[0].length)
  return MORE_THAN_0.test(base) ? base + best[1] : word
}

function withoutEdOrIng(word: string): string {
  if (word.endsWith('eed')) return MORE_THAN_0.test(word.slice(0, -3)) ? word.slice(0, -1) : word
  const ending = word.endsWith('ed') ? 2 : word.endsWith('ing') ? 3 : 0
  const base = word.slice(0, word.length - ending)
  if (ending === 0 || !HAS_VOWEL.test(base)) return word
  if (/(at|bl|iz)$/.test(base)) return base + 'e'
  if (DOUBLE.test(base)) return base.slice(0, -1)
  return ENDS_CVC.test(base) ? base + 'e' : base
}

function withoutStep4(word: string): string {
  if (/[st]ion$/.test(word)) return MORE_THAN_1.test(word.slice(0, -3)) ? word.slice(0, -3) : word
  let best = ''
  for (const ending of STEP_4) if (ending.length > best.length && word.endsWith(ending)) best = ending
  if (best === '') return word
  const base = word.slice(0, -best.length)
  return MORE_THAN_1.test(base) ? base : word
}

export function stem(given: string): string {
  if (given.length < 3 || !/^[a-z]+$/.test(given)) return given
  // A leading y is a consonant. As a capital letter, the patterns above treat it as one.
  let word = given[0] === 'y' ? 'Y' + given.slice(1) : given
  if (word.endsWith('sses') || word.endsWith('ies')) word = word.slice(0, -2)
  else if (word.endsWith('s') && !word.endsWith('ss')) word = word.slice(0, -1)
  word = withoutEdOrIng(word)
  if (word.endsWith('y') && HAS_VOWEL.test(word.slice(0, -1))) word = word.slice(0, -1) + 'i'
  word = replaceEnding(word, STEP_2)
  word = replaceEnding(word, STEP_3)
  word = withoutStep4(word)
  if (word.endsWith('e')) {
    const base = word.slice(0, -1)
    if (MORE_THAN_1.test(base) || (EXACTLY_1.test(base) && !ENDS_CVC.test(base))) word = base
  }
  if (word.endsWith('ll') && MORE_THAN_1.test(word)) word = word.slice(0, -1)
  return word[0] === 'Y' ? 'y' + word.slice(1) : word
}
