// The pure part of recall: words, stems, and the order of candidates.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stem } from '../../src/memory/index/stem.ts'
import { askedWords } from '../../src/memory/index/terms.ts'
import { idf, lexical, type Words } from '../../src/memory/index/bm25.ts'
import { languagesOf } from '../../src/memory/index/languages.ts'
import { formsOf } from '../../src/memory/index/word-forms.ts'
import { findPassing } from '../../src/memory/in-passing.ts'
import { blendFor, rank, recency, STOP_WORD, tokenWeights, type Candidate } from '../../src/memory/rank.ts'
import { tokenLikeness } from '../../src/memory/token-likeness.ts'
import { countWords } from './count-words.ts'
import { wordsOf } from './tools.ts'

// From the paper's own examples, step by step.
const STEMS: Record<string, string> = {
  caresses: 'caress',
  ponies: 'poni',
  cats: 'cat',
  agreed: 'agre',
  feed: 'feed',
  plastered: 'plaster',
  motoring: 'motor',
  sing: 'sing',
  conflated: 'conflat',
  hopping: 'hop',
  falling: 'fall',
  filing: 'file',
  happy: 'happi',
  sky: 'sky',
  relational: 'relat',
  conditional: 'condit',
  digitizer: 'digit',
  operator: 'oper',
  triplicate: 'triplic',
  hopefulness: 'hope',
  electrical: 'electr',
  revival: 'reviv',
  adoption: 'adopt',
  probate: 'probat',
  rate: 'rate',
  controlling: 'control',
  roll: 'roll',
  connection: 'connect',
  connected: 'connect',
  yes: 'ye',
  year: 'year',
  a: 'a',
  is: 'is',
  café: 'café',
}

test('[SRCH-7] words match by their stems', () => {
  for (const [word, expected] of Object.entries(STEMS)) assert.equal(stem(word), expected, word)
})

test('[SRCH-7] a text becomes words in any script: case and accents fold, stop words go, ideographs pair up', () => {
  const firsts = (text: string): string[] => wordsOf(text).map((forms) => forms[0]!)
  assert.deepEqual(wordsOf('The Café at the END of “connections”'), [['cafe'], ['end'], ['connect']])
  assert.deepEqual(firsts('東京タワー v2'), ['東', '京', '東京', '京タ', 'タワ', 'ワー', 'v2'])
  assert.deepEqual(firsts('Straße Привет नमस्ते'), ['strass', 'привет', 'नमस्ते'])
  assert.deepEqual(firsts('รถไฟไปเชียงใหม่'), ['รถไฟ', 'ไป', 'เชียงใหม่'])
  assert.deepEqual(firsts('... the of — !'), [])
  assert.deepEqual(
    firsts('x'.repeat(500)).map((term) => term.length),
    [64],
  )
})

test('[SRCH-7] a query in a script without spaces asks for pairs inside words, not for particles', () => {
  const asked = (query: string): string[] => askedWords(query).words.map((forms) => forms[0]!)
  assert.deepEqual(asked('うちの猫は'), ['うち', '猫'])
  assert.deepEqual(asked('会議は火曜日'), ['会議', '火曜', '曜日'])
  assert.deepEqual(asked('香港大'), ['香港', '港大', '大'])
})

test('words of the title count three times', () => {
  const { counts, length } = countWords('Pumpen', 'Pumpen Leitungen')
  const [pump, pipe] = ['pumpen', 'leitungen'].map((word) => formsOf(word, languagesOf([word])))
  assert.ok(pipe!.length > 1)
  assert.deepEqual(
    counts,
    new Map([...pump!.map((form) => [form, 4] as const), ...pipe!.map((form) => [form, 1] as const)]),
  )
  assert.equal(length, 5, 'a word under two forms is one word')
})

const NOW = Date.parse('2030-01-01T00:00:00Z')
const words: Words = { idf: [idf(10, 2), idf(10, 0)], averageLength: 10, memories: 10 }
const candidate = (id: string, more: Partial<Candidate> = {}): Candidate => ({
  id,
  frequencies: [1, 0],
  length: 10,
  meaning: null,
  confidence: 1,
  importance: 0.5,
  freshAt: NOW,
  ...more,
})

test('[SRCH-3] scores lie between 0 and 1 and fall, whatever the candidates', () => {
  const unit = (angle: number): Float32Array => Float32Array.from([Math.cos(angle), Math.sin(angle)])
  const many = Array.from({ length: 50 }, (_, i) =>
    candidate(`m${i}`, {
      frequencies: [i % 3, i % 7 === 0 ? 1000 : 0],
      length: i,
      confidence: (i % 5) / 4,
      importance: (i % 4) / 3,
      freshAt: NOW - i * 1e9,
      meaning: i % 2 ? { vector: unit(i), tokens: new Int8Array(64).fill((i % 5) - 2) } : null,
    }),
  )
  const ranked = rank(words, { vector: unit(0), tokens: new Int8Array(64).fill(15) }, many, NOW)
  assert.equal(ranked.length, 50)
  for (const [i, { relevance, signals }] of ranked.entries()) {
    for (const value of [relevance, ...Object.values(signals)]) assert.ok(value >= 0 && value <= 1, `${value}`)
    if (i > 0) assert.ok(relevance <= ranked[i - 1]!.relevance)
  }
})

for (const [name, more] of Object.entries({
  confidence: { confidence: 0.6 },
  importance: { importance: 0.2 },
  recency: { freshAt: NOW - 40 * 86_400_000 },
})) {
  test(`[SRCH-10] of equals the one with the higher ${name} comes first, and never before one that answers much better`, () => {
    const [first, second] = rank(words, null, [candidate('a', more), candidate('b')], NOW)
    assert.deepEqual([first!.id, second!.id], ['b', 'a'])
    const [better] = rank(words, null, [candidate('a', { ...more, frequencies: [4, 4] }), candidate('b')], NOW)
    assert.equal(better!.id, 'a')
  })
}

test('[SRCH-3] equal results have one order: the newest id first', () => {
  const order = rank(
    words,
    null,
    ['m1', 'm3', 'm2'].map((id) => candidate(id)),
    NOW,
  ).map(({ id }) => id)
  assert.deepEqual(order, ['m3', 'm2', 'm1'])
})

test('lexical is BM25 over its maximum: 0 without a word, rising with frequency, common words still count', () => {
  assert.equal(lexical(words, [0, 0], 10), 0)
  assert.ok(lexical(words, [2, 0], 10) > lexical(words, [1, 0], 10))
  assert.ok(lexical(words, [1e9, 1e9], 1) <= 1)
  assert.ok(idf(10, 10) > 0)
})

test('[RCL-11] token similarity is the average of the best match of each token, 0 when there are none', () => {
  const axis = (...at: number[]): Int8Array => {
    const tokens = new Int8Array(64 * at.length)
    at.forEach((i, n) => (tokens[n * 64 + i] = 127))
    return tokens
  }
  assert.equal(tokenLikeness(axis(0, 1), axis(5, 1, 0)), 1)
  assert.equal(tokenLikeness(axis(0, 1), axis(1)), 0.5)
  assert.equal(tokenLikeness(axis(0), new Int8Array(0)), 0)
  assert.equal(tokenLikeness(axis(0, 1), axis(1), [1, 3]), 0.75, 'a rare word weighs more')
  assert.equal(tokenLikeness(new Int8Array(0), axis(0)), 0)
  assert.equal(tokenLikeness(axis(0, 1), axis(1, 0), [1, 3], [0.5, 1]), 0.875, 'half of what a token brings')
})

test('[RCL-11] comparing tokens sixteen bytes at a time equals one by one, up to the size of a window', () => {
  let seed = 7
  const next = (): number => (seed = (seed * 48_271) % 2_147_483_647)
  const some = (tokens: number): Int8Array => Int8Array.from({ length: 64 * tokens }, () => (next() % 255) - 127)
  const plain = (query: Int8Array, memory: Int8Array): number => {
    let sum = 0
    for (let q = 0; q < query.length; q += 64) {
      let best = 0
      for (let m = 0; m < memory.length; m += 64) {
        let likeness = 0
        for (let i = 0; i < 64; i++) likeness += query[q + i]! * memory[m + i]!
        best = Math.max(best, likeness)
      }
      sum += best
    }
    return sum / (query.length / 64) / 16_129
  }
  const edge = new Int8Array(64).fill(-127)
  assert.equal(tokenLikeness(edge, edge), 64)
  for (const [asked, held] of [
    [1, 1],
    [3, 17],
    [12, 254],
    [254, 254],
  ] as const) {
    const [query, memory] = [some(asked), some(held)]
    assert.equal(tokenLikeness(query, memory), plain(query, memory), `${asked} tokens and ${held}`)
  }
})

test('recency halves every thirty days and is 1 in the future', () => {
  assert.equal(recency(NOW - 30 * 86_400_000, NOW), 0.5)
  assert.equal(recency(NOW + 1e9, NOW), 1)
})

test('[SRCH-7] a memory without vectors yet ranks by its words, however long, above memories without them', () => {
  const unit = (angle: number): Float32Array => Float32Array.from([Math.cos(angle), Math.sin(angle)])
  const noise = Array.from({ length: 20 }, (_, i) =>
    candidate(`n${i}`, {
      frequencies: [0, 0],
      meaning: { vector: unit(1 + i / 100), tokens: new Int8Array(64).fill(4) },
    }),
  )
  const fresh = candidate('fresh', { frequencies: [1, 1], length: 6_000 })
  const query = { vector: unit(0), tokens: new Int8Array(64).fill(15) }
  assert.equal(rank(words, query, [...noise, fresh], NOW)[0]!.id, 'fresh')
  // Half of the words count half: a memory that answers the query stays above it.
  const answer = candidate('answer', {
    frequencies: [1, 1],
    meaning: { vector: unit(0.1), tokens: new Int8Array(64).fill(14) },
  })
  assert.equal(
    rank(words, query, [...noise, answer, candidate('half', { frequencies: [1, 0], length: 6_000 })], NOW)[0]!.id,
    'answer',
  )
})

test('[RCL-11] a token weighs the root of its word’s weight, and one of no word as much as the rarest', () => {
  const words: Words = { idf: [4, 9], averageLength: 10, memories: 10 }
  const query = { vector: new Float32Array(2), tokens: new Int8Array(0), wordOfToken: [1, 0, -1, STOP_WORD] }
  assert.deepEqual(tokenWeights(words, query), [3, 2, 3, 0])
})

test('[RCL-11] the longer memories are, the more the vector of the whole counts; weights add up to one', () => {
  for (const length of [0, 20, 40, 55, 70, 100, 500]) {
    const { lex, cos, tok } = blendFor(length)
    assert.ok(Math.abs(lex + cos + tok - 1) < 1e-9)
  }
  assert.deepEqual(blendFor(30), { lex: 0.31, cos: 0.08, tok: 0.61, passing: 1 })
  assert.ok(blendFor(116).cos > blendFor(60).cos)
})

test('[RCL-14] in short memories a word in passing yields to meaning; in long ones words count in full', () => {
  const unit = (angle: number): Float32Array => Float32Array.from([Math.cos(angle), Math.sin(angle)])
  const query = { vector: unit(0), tokens: new Int8Array(64).fill(15) }
  const meaning = (angle: number, token: number) => ({
    vector: unit(angle),
    tokens: new Int8Array(64).fill(token),
  })
  const rare: Words = { idf: [2, 2, 2, 2], averageLength: 10, memories: 10 }
  const passing = candidate('passing', { frequencies: [2, 0, 0, 0], length: 10, meaning: meaning(1.2, 5) })
  const meant = candidate('meant', { frequencies: [0, 0, 0, 0], length: 10, meaning: meaning(0.9, 5) })
  assert.equal(rank(rare, query, [passing, meant], NOW)[0]!.id, 'meant')
  // A memory with all of the query's words is not affected.
  const full = candidate('full', { frequencies: [2, 2, 2, 2], length: 10, meaning: meaning(1.2, 5) })
  assert.equal(rank(rare, query, [full, meant], NOW)[0]!.id, 'full')
  assert.equal(blendFor(116).passing, 0)
  // Without vectors only the words count.
  const [byWords] = rank(rare, null, [passing, meant], NOW)
  assert.ok(Math.abs(byWords!.relevance - 0.6 * byWords!.signals.lexical * 0.985) < 1e-9)
})

test('[RCL-14] a single word counts as in passing when a memory without any of the words is as near', () => {
  const several: Words = { idf: [2, 2, 2], averageLength: 10, memories: 10 }
  const kitchen = { frequencies: [1, 0, 0], cos: 0.42 }
  const inPassing = (
    near: number | null,
    one: typeof kitchen | { frequencies: number[]; cos: null } = kitchen,
    words = several,
  ) => findPassing(words, [one, { frequencies: [0, 0, 0], cos: near }])(one)
  assert.equal(inPassing(0.4), 1)
  assert.equal(inPassing(0.45), 1)
  assert.equal(inPassing(0.3), 0, 'it is clearly nearer: it is about the word')
  const between = inPassing(0.355)
  assert.ok(between > 0.4 && between < 0.6, `${between}`)
  assert.equal(inPassing(null), 0, 'what is not embedded yet is no rival')
  assert.equal(inPassing(0.4, { frequencies: [1, 0, 0], cos: null }), 0, 'nothing is known but its words')
  assert.equal(inPassing(0.4, { frequencies: [1, 1, 0], cos: 0.42 }), 0, 'two words are no chance')
  assert.equal(inPassing(0.4, { frequencies: [1, 0], cos: 0.42 }, { ...several, idf: [2, 2] }), 0, 'one of two')
  const faint = { frequencies: [1, 0, 0], cos: 0.2 }
  assert.equal(inPassing(0.19, faint), 0, 'nothing means what is asked')
  assert.equal(inPassing(0.4, kitchen, { ...several, memories: 100_000 }), 0, 'so near lies something by chance')
})

test('[RCL-14] a word in passing counts neither as a word nor as the token that matches itself', () => {
  const axis = (...at: number[]): Int8Array => {
    const tokens = new Int8Array(64 * at.length)
    at.forEach((direction, i) => (tokens[i * 64 + direction] = 127))
    return tokens
  }
  const unit = (angle: number): Float32Array => Float32Array.from([Math.cos(angle), Math.sin(angle)])
  const asked = { vector: unit(0), tokens: axis(0, 1, 2), wordOfToken: [0, 1, 2] }
  const several: Words = { idf: [2, 2, 2], averageLength: 30, memories: 10 }
  const kitchen = candidate('kitchen', { frequencies: [1, 0, 0], meaning: { vector: unit(1.1), tokens: axis(0, 9) } })
  const stew = candidate('stew', { frequencies: [0, 0, 0], meaning: { vector: unit(1.12), tokens: axis(8, 9) } })
  const far = candidate('far', { frequencies: [0, 0, 0], meaning: { vector: unit(1.5), tokens: axis(8, 9) } })
  assert.equal(rank(several, asked, [kitchen, stew], NOW).length, 2)
  const relevanceBeside = (other: Candidate): number =>
    rank(several, asked, [kitchen, other], NOW).find(({ id }) => id === 'kitchen')!.relevance
  // A third of tok and all of lex are lost, less what moves towards the other answer.
  assert.ok(relevanceBeside(far) - relevanceBeside(stew) > 0.15)
  assert.ok(relevanceBeside(stew) < 0.1)
})
