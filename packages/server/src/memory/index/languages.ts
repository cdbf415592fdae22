// Detects the language of a text by its small words (stop words). Small words are not indexed; the language chooses the
// stemmer. A short text without a clear language, such as a title of two nouns, is treated as all of these languages.

const LANGUAGES = ['en', 'de', 'fr', 'es', 'pt', 'it', 'nl'] as const
export type Language = (typeof LANGUAGES)[number]

/** Without accents, because words are compared without them. */
const SMALL_WORDS: Record<Language, string> = {
  en:
    'a an and are as at be been but by can could did do does for from had has have he her his how i if in into is it its me my no not of on or our ' +
    'she so such that the their them then there these they this to was we were what when where which who why will with would you your',
  de:
    'der die das den dem des ein eine einen einem einer eines und oder aber ist sind war waren wird werden wurde wurden hat haben hatte kann muss soll ' +
    'nicht kein keine auf aus bei fur mit nach uber unter vor von vom zu zum zur im in am an als auch dass es er sie wir ihr ich du sich wer was wann wo wie warum ' +
    'welche welcher welches wohin noch nur schon wenn weil durch ins bis gibt man',
  fr:
    'le la les un une des du de et ou mais est sont etait etaient sera a ont avait peut doit ne pas plus sur sous dans avec sans pour par chez en au aux ' +
    'que qui quoi quand comment pourquoi quel quelle quels quelles ce cet cette ces il elle ils elles nous vous je tu se sa son ses leur leurs mon ma mes y si faut fait',
  es:
    'el la los las un una unos unas y o pero es son era eran fue sera ha han habia puede debe no mas en con sin para por de del al que quien cuando como donde ' +
    'cual cuales este esta estos estas ese esa eso esto lo le les se su sus mi mis tu yo nosotros hay muy ya si sobre entre hasta desde porque cuanto esta estan',
  pt:
    'o a os as um uma uns umas e ou mas sao era eram foi sera ha tem tinha pode deve nao mais em no na nos nas com sem para por de do da dos das ao aos que quem ' +
    'quando como onde qual quais este esta isto esse essa isso ele ela eles elas se seu sua seus suas meu minha eu voce muito ja sobre entre ate pelo pela porque esta estao',
  it:
    'il lo la i gli le un uno una e o ma sono era erano sara ha hanno puo deve non piu in con senza per di del della dei delle dello degli al alla ai alle dal dalla nel nella ' +
    'sul sulla che chi quando come dove perche quale quali questo questa questi queste quello quella lui lei loro noi voi io si suo sua suoi mio mia molto gia tra fra da',
  nl:
    'de het een en maar is zijn was waren wordt werd worden heeft hebben had kan moet mag niet geen op uit bij voor met naar over onder van te ten ter in aan als ook dat die deze dit ' +
    'er hij zij ze we wij jullie ik je u zich wie wat wanneer waar hoe waarom welke nog alleen al om door tot',
}

const wordsOf = (language: Language): ReadonlySet<string> => new Set(SMALL_WORDS[language].split(' '))

export const smallWords: Record<Language, ReadonlySet<string>> = {
  en: wordsOf('en'),
  de: wordsOf('de'),
  fr: wordsOf('fr'),
  es: wordsOf('es'),
  pt: wordsOf('pt'),
  it: wordsOf('it'),
  nl: wordsOf('nl'),
}

/**
 * The small words of Russian. They tell nothing about other languages, and are left out of texts in any: no other that
 * is listed here has Cyrillic letters.
 */
export const russianSmallWords: ReadonlySet<string> = new Set(
  (
    'и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот от меня еще нет о из ему теперь когда ' +
    'даже ну ли если уже или ни быть был него до вас нибудь опять уж вам ведь там потом себя ничего еи может они тут где есть надо ней для мы тебя ' +
    'их чем была сам чтоб без чего раз тоже себе под будет ж тогда кто этот того потому этого какои какая какое какие совсем ним здесь этом один ' +
    'почти мои моя мое тем чтобы нее были куда зачем всех при наконец два об другои хоть после над больше тот через эти нас про всего них много ' +
    'разве эта это свою этои перед иногда лучше чуть том нельзя такои им более всегда конечно всю между почему сколько'
  ).split(' '),
)

/** The languages that have each small word. A word of four languages counts a quarter for each. */
const languagesOfWord = new Map<string, Language[]>()
for (const language of LANGUAGES)
  for (const word of smallWords[language]) languagesOfWord.set(word, [...(languagesOfWord.get(word) ?? []), language])

/** How many words of a text are examined: enough to tell the language, whatever the length of the text. */
const LOOKED_AT = 400
/** The least score of a detected language, and how many times the score of the next language it must be. */
const MIN_SCORE = 0.5
const MIN_RATIO = 1.5
/**
 * A longer text without small words is not prose but a log or a list of numbers. Its words are stemmed as English only:
 * seven stems of a word that is not cached take 0.17 ms.
 */
const SHORT = 24

/** Returns the language of words in lower case and without accents; all languages if a short text is unclear. */
export function languagesOf(words: readonly string[]): readonly Language[] {
  const scores = new Map<Language, number>()
  for (const word of words.slice(0, LOOKED_AT)) {
    const languages = languagesOfWord.get(word) ?? []
    for (const language of languages) scores.set(language, (scores.get(language) ?? 0) + 1 / languages.length)
  }
  const [first, second] = [...scores].sort((a, b) => b[1] - a[1])
  if (first && first[1] >= MIN_SCORE && first[1] >= MIN_RATIO * (second?.[1] ?? 0)) return [first[0]]
  return words.length <= SHORT ? LANGUAGES : ['en']
}

/**
 * Returns whether words are English rather than any other language; undefined if they do not tell. One foreign word
 * does not: `van`, `die`, `Los` Angeles and the `com` of an address stand in English texts too.
 */
export function isEnglish(words: readonly string[]): boolean | undefined {
  const english = new Set<string>()
  const others = new Set<string>()
  for (const word of words.slice(0, LOOKED_AT)) {
    const languages = languagesOfWord.get(word) ?? []
    if (languages.length > 0 && !languages.includes('en')) others.add(word)
    else if (languages.length === 1) english.add(word)
  }
  if (english.size === others.size || (english.size === 0 && others.size === 1)) return undefined
  return english.size > others.size
}
