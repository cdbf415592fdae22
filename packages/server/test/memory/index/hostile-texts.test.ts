// Whatever a text holds, analysing it takes bounded work and keeps nothing of it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import v8 from 'node:v8'
import vm from 'node:vm'
import fc from 'fast-check'
import { beginningOf } from '../../../src/kernel/beginning-of.ts'
import { atOnce } from '../../../src/kernel/step-turns.ts'
import { withFewerMarks } from '../../../src/kernel/fewer-marks.ts'
import { wordSlicesOf } from '../../../src/memory/embed/tokenise.ts'
import { makeAnalyse, type Encode } from '../../../src/memory/index/analyse.ts'
import { fold } from '../../../src/memory/index/fold.ts'
import { askedOf, gramsOf, gramSteps, seedOf } from '../../../src/memory/index/grams.ts'
import { askedWords, countSteps } from '../../../src/memory/index/terms.ts'
import { sqliteWriter } from '../../../src/memory/index/write-sqlite.ts'
import { countWords } from '../count-words.ts'
import { everyCharacter, turnsBeside, wordsOf } from '../tools.ts'

test('[RCL-4] a text has a bounded number of grams, and every part of it is found by its grams', () => {
  assert.ok(gramsOf(7, everyCharacter).size <= 8_192)
  const alphabet = fc.constantFrom('a', 'b', 'é', '字', '🙂', ' ')
  const text = fc.oneof(
    fc.string({ unit: alphabet, maxLength: 60 }),
    fc.integer({ min: 0, max: 20_000 }).map((from) => everyCharacter.slice(from, from + 9_000)),
  )
  fc.assert(
    fc.property(text, fc.nat(), fc.integer({ min: 1, max: 40 }), (whole, at, length) => {
      const points = [...whole]
      if (points.length === 0) return
      const start = at % points.length
      const needle = points.slice(start, start + length).join('')
      const grams = gramsOf(7, whole)
      assert.ok(
        Object.values(askedOf(needle, 7)).some((asked) => asked.every((gram) => grams.has(gram))),
        needle,
      )
    }),
  )
})

test('[RCL-4] a text has a bounded number of words, also if normalising makes it longer', () => {
  // One character that becomes eighteen, in four words; one that becomes four, which are indexed in pairs.
  const growing = { '\ufdfa': 16_384, '\u3300': 65_536 }
  for (const [character, most] of Object.entries(growing)) {
    const words = wordsOf(character.repeat(32_768)).length
    assert.ok(words <= most, `${words} words of ${character}`)
    assert.ok(wordsOf(character.repeat(4_000)).length <= 8_192, 'in a text that is too short to be analysed ahead')
  }
  const longest = (text: string): number => Math.max(...wordsOf(text).map(([first]) => first!.length))
  assert.deepEqual(
    [longest('x'.repeat(99)), longest('ก' + '\u0e31'.repeat(99)), longest(`x${'\u{10330}'.repeat(99)}`)],
    [64, 31, 63],
  )
  const firsts = (words: readonly (readonly string[])[]) => words.map(([first]) => first)
  assert.ok(firsts(wordsOf('\ufdfa'.repeat(400) + ' zebra')).includes('zebra'))
  assert.ok(firsts(wordsOf('½ '.repeat(8_000) + 'zebra')).includes('zebra'), 'as long as it grows to twice its length')
  assert.ok(firsts(askedWords('\ufdfa zebra').words).includes('zebra'))
  assert.ok(!firsts(askedWords('\ufdfa'.repeat(4_000) + ' zebra').words).includes('zebra'))
  // A text that would end in the middle of a surrogate pair ends before it.
  assert.deepEqual([beginningOf('ab🙂c', 3), beginningOf('ab🙂c', 4), beginningOf('🙂', 2)], ['ab', 'ab🙂', '🙂'])
})

test('[RCL-4] a character has at most thirty combining marks before it is normalised, which sorts them', () => {
  const marks = '\u05b1\u05b0'.repeat(16_384)
  const most = marks.slice(0, 30)
  assert.deepEqual(wordsOf(`א${marks} b${marks}`), wordsOf(`א${most} b${most}`))
  assert.deepEqual(askedWords(`א${marks}`).words, wordsOf(`א${most}`))
  assert.deepEqual([...wordSlicesOf(`א${marks}b${marks}`)], [`א${most}b${most}`], 'for the model')
  assert.deepEqual([...wordSlicesOf('ｶ\uff9e'.repeat(40))], ['ｶ\uff9e'.repeat(40)])
  assert.equal(withFewerMarks(`a${'\u0301\uff9e'.repeat(16_384)}`).length, 31, 'these become marks')
  const alphabet = fc.constantFrom('a', 'א', '\u0301', '\u05b0', '\u{1e8d0}', '\u0903')
  fc.assert(
    fc.property(fc.string({ unit: alphabet, maxLength: 200 }), (text) => {
      const fewer = withFewerMarks(text)
      assert.doesNotMatch(fewer, /\p{M}{31}/u)
      if (!/\p{M}{31}/u.test(text)) assert.equal(fewer, text)
      assert.equal(fewer.replaceAll(/\p{M}/gu, ''), text.replaceAll(/\p{M}/gu, ''))
    }),
  )
})

test('[RCL-57] the cached forms of a word do not keep its text in memory', () => {
  v8.setFlagsFromString('--expose-gc')
  const collect = vm.runInNewContext('gc') as () => void
  const heap = (): number => {
    collect()
    return process.memoryUsage().heapUsed
  }
  const filler = 'the committee met behind the library and '.repeat(790)
  const words = Array.from({ length: 400 }, (_, i) => `uncommonlongword${i}`)
  const before = heap()
  for (const word of words) wordsOf(`${filler}${word} ${word}é`)
  const grown = heap() - before
  assert.ok(grown < 4_000_000, `${grown} bytes stay of 13 MB`)
})

const caller = { tenantId: 't', id: 'a' }
const texts = (content: string, title = 'A title') => ({ tenant_id: caller.tenantId, title, content })
const asCounted: Encode<ReadonlyMap<string, number>> = function* (_tenantId, counts) {
  yield
  return [counts]
}

test('[LOAD-3] an analysis serves a transaction that is run again, and every one of equal texts has its own', async () => {
  const analyse = makeAnalyse(asCounted)
  const { tenant_id, title, content } = texts('word '.repeat(1_000))
  const take = () => analyse.take({ tenant_id, title, content }).parts[0]
  for (const _ of ['first', 'second']) await analyse.analyseAhead(caller, title, content)
  const first = take()
  assert.ok(take() === first, 'not analysed again')
  analyse.drop({ tenant_id, title, content })
  const second = take()
  assert.ok(second !== first && take() === second, 'the one of the second request')
  analyse.drop({ tenant_id, title, content })
  const later = take()
  assert.ok(later !== second && later !== take(), 'nothing is kept after the commit')
  assert.deepEqual(take(), first)
  await analyse.analyseAhead(caller, title, content)
  const others = { tenant_id: 'other', title, content }
  assert.notDeepEqual(
    analyse.take(others).grams,
    analyse.take({ ...others, tenant_id }).grams,
    'the grams of another tenant are others',
  )
})

test('[RCL-4] pieces of Thai between Latin letters are segmented in one call, with the same words as one by one', () => {
  const segmenter = new Intl.Segmenter('und', { granularity: 'word' })
  const oneByOne = (piece: string): string[] =>
    /[a-z]/.test(piece) ? [piece] : Array.from(segmenter.segment(piece), ({ segment }) => segment)
  const letters = ['ก', 'า', 'ร', '\u0e31', 'ທ', '\u0eb1', 'ក', '\u17b6', 'က', '\u102b', '๑', '\u0301']
  const piece = fc.string({ unit: fc.constantFrom(...letters), minLength: 1, maxLength: 12 }).map((text) => `ก${text}`)
  fc.assert(
    fc.property(fc.array(piece, { minLength: 1, maxLength: 20 }), (pieces) => {
      const normal = pieces.map((text) => text.normalize('NFKC'))
      const expected = normal.flatMap((text) => [...oneByOne(text), 'qz'])
      for (const between of ['qz', ' qz '])
        assert.deepEqual(
          wordsOf(normal.map((text) => text + between).join('')).map(([first]) => first),
          expected,
        )
    }),
  )
  let calls = 0
  const { segment } = Intl.Segmenter.prototype
  Intl.Segmenter.prototype.segment = function (text) {
    calls++
    return segment.call(this, text)
  }
  try {
    assert.equal(wordsOf('กb'.repeat(16_384)).length, 32_768)
    assert.equal(wordsOf('ก '.repeat(16_384)).length, 16_384)
  } finally {
    Intl.Segmenter.prototype.segment = segment
  }
  assert.equal(calls, 2)
})

test('[LOAD-3] the words of any text are found in many steps, and half a surrogate pair changes nothing', async () => {
  for (const text of [
    'กb'.repeat(16_384),
    'ก'.repeat(32_768),
    everyCharacter,
    'é1 '.repeat(10_922),
    'a '.repeat(16_384),
  ]) {
    const { turns } = await turnsBeside(makeAnalyse(asCounted).analyseAhead(caller, 'A title', text))
    assert.ok(turns >= 10, `${turns} turns for ${text.slice(0, 4)}`)
  }
  const analyse = makeAnalyse(asCounted)
  const broken = `\ud800 ${'word '.repeat(1_000)}`
  await analyse.analyseAhead(caller, broken, broken)
  const stored = texts(broken.toWellFormed(), broken.toWellFormed())
  assert.ok(analyse.take(stored).noteWrite, 'it is ready as it is stored')
})

test('[LOAD-3] a long text is analysed in steps, with the same result as in one', async () => {
  const analyse = makeAnalyse(asCounted)
  const text = `Grüße ${everyCharacter}`
  const { turns } = await turnsBeside(analyse.analyseAhead(caller, 'A title', text))
  assert.ok(turns >= 2, `${turns} turns`)
  const expected = (content: string) => {
    const { counts, length } = countWords('A title', content)
    const folded = { title: 'a title', content: fold(content) }
    return { ...folded, grams: gramsOf(seedOf('t'), ...Object.values(folded)), parts: [counts], length }
  }
  const taken = (content: string) => {
    const { noteWrite, ...analysed } = analyse.take(texts(content))
    return { ...analysed, isAhead: noteWrite !== null }
  }
  assert.deepEqual(taken(text), { ...expected(text), isAhead: true })
  assert.deepEqual(taken('Short'), { ...expected('Short'), isAhead: false })
  // Texts whose transaction never came do not stay in memory for ever.
  const others = Array.from({ length: 20 }, (_, i) => `${i} ${'word '.repeat(1_000)}`)
  for (const other of others) await analyse.analyseAhead(caller, 'A title', other)
  assert.deepEqual(
    others.map((other) => analyse.take(texts(other)).length),
    others.map(() => 1_004),
  )
})

test('[LOAD-3] counting, encoding and the grams of a long text are steps too, and many callers share a turn', async () => {
  const stepsOf = (steps: Generator<void, unknown>): number => Array.from(steps).length
  for (const text of ['日本語漢字'.repeat(6_553), everyCharacter]) {
    assert.ok(stepsOf(countSteps(text, text)) >= 16)
    assert.ok(stepsOf(gramSteps(7, text, text)) >= 8)
    assert.ok(stepsOf(sqliteWriter(() => {}).encode('t'.repeat(30), countWords(text, text).counts)) >= 5)
  }
  const analyse = makeAnalyse(asCounted)
  const text = 'word '.repeat(6_000)
  const alone = await turnsBeside(analyse.analyseAhead(caller, 'A title', text))
  const together = await turnsBeside(
    Promise.all(['a', 'b', 'c', 'd'].map((id) => analyse.analyseAhead({ ...caller, id }, 'A title', text))),
  )
  assert.ok(together.turns >= 3 * alone.turns, `${together.turns} turns for four, ${alone.turns} for one`)
})

test('[RCL-4] a word takes as few tokens as possible, of which one of the title counts for three', () => {
  const words = new Map([
    ['one', 1],
    ['five', 5],
    ['nine', 9],
  ])
  const parts = atOnce(sqliteWriter(() => {}).encode('T', words))
  const { title, content } = parts[0]!
  assert.equal(parts.length, 1)
  assert.deepEqual([title, content].map(String), ['t_five t_nine t_nine t_nine ', 't_one t_five t_five '])
})
