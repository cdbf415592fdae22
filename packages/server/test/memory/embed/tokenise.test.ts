// What the built-in model reads of a text, and how long others wait while a text is cut.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { Tokenizer } from '@huggingface/tokenizers'
import fc from 'fast-check'
import { modelFolder } from '../../../src/memory/embed/model-files.ts'
import { makeTokenise, piecesOf, wordSlicesOf } from '../../../src/memory/embed/tokenise.ts'
import { makeWindows } from '../../../src/memory/embed/windows.ts'
import { makeWorkQueue, type Told } from '../../../src/memory/embed/work-queue.ts'
import { everyCharacter } from '../tools.ts'

const file = (name: string): object =>
  JSON.parse(readFileSync(path.join(modelFolder(), name), 'utf8')) as Record<string, unknown>

const tokenise = makeTokenise(file('tokenizer.json'), file('tokenizer_config.json'))

/** Words of a hundred letters, of which the model knows nothing but single letters and pairs. */
const longWords = (length: number): string => {
  let text = ''
  for (let i = 1; text.length < length; i++) text += i % 101 === 0 ? ' ' : 'qxzjkvw'[(i * i + (i >> 3)) % 7]
  return text
}

/** Texts of all kinds of words, long enough to be cut into several slices. */
const someTexts = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 20 }),
      fc.string({ unit: fc.constantFrom('a', 'e', 'ing', 'ß', 'Σ', 'é', 'e\u0301'), maxLength: 110 }),
      fc.constantFrom(
        'unbelievably',
        'ΟΔΟΣ',
        'Σ.Α',
        '字',
        '漢字',
        '[MASK]',
        '[SEP]',
        '🙂',
        '\u200b',
        '\ufdfa',
        '\v',
        '##ing',
      ),
    ),
    { maxLength: 60 },
  )
  .chain((words) => fc.constantFrom(' ', '\n', ', ', '', ';').map((between) => words.join(between)))
  .map((text) => text.repeat(Math.ceil(3_000 / (text.length + 1))))

test('[RCL-60] a text that is cut in slices has the tokens that the tokenizer gives for all of it', () => {
  const whole = new Tokenizer(
    { ...file('tokenizer.json'), padding: null, truncation: null },
    file('tokenizer_config.json'),
  )
  const same = (text: string): void => {
    const slices = [...wordSlicesOf(text)]
    assert.equal(slices.join(''), text)
    assert.deepEqual(
      slices.flatMap((slice) => tokenise(slice).map(({ id }) => id)),
      whole.encode(text, { add_special_tokens: false }).ids,
    )
  }
  fc.assert(fc.property(someTexts, same), { numRuns: 20 })
  same(everyCharacter)
  same(longWords(3_000))
})

test('[RCL-60] a long word takes no more look-ups than its letters times the longest piece', () => {
  let lookups = 0
  const letters = new Set([...'qxzjkvw'].flatMap((letter) => [letter, `##${letter}`]))
  const has = (piece: string): boolean => {
    lookups++
    return letters.has(piece)
  }
  assert.equal(piecesOf(longWords(100), { has, longest: 18 }).length, 100)
  assert.ok(lookups <= 100 * 18, `${lookups} look-ups`)
  assert.deepEqual(piecesOf('q'.repeat(101), { has, longest: 18 }), ['[UNK]'])
  assert.deepEqual(piecesOf('qa', { has, longest: 18 }), ['[UNK]'])
})

test('[RCL-60] a slice is short wherever a text can be cut', () => {
  for (const text of [longWords(65_536), '字'.repeat(32_768), 'word,'.repeat(13_000), '\n'.repeat(65_536)])
    for (const slice of wordSlicesOf(text)) assert.ok(slice.length <= 1_024 + 101, `${slice.length} characters`)
})

test('[RCL-60] a query waits for one window of a text, also while the text is cut', async () => {
  const steps: string[] = []
  const windowsOf = makeWindows(tokenise)
  const told = Promise.withResolvers<void>()
  const queue = makeWorkQueue(
    {
      *windows(text) {
        const isQuery = text === 'Who bakes bread?'
        for (const window of windowsOf(text)) {
          steps.push(isQuery ? 'query' : 'cut')
          yield window
          // In the middle of the text, as if a message had arrived.
          if (!isQuery && steps.length === 3) queue.add({ id: 2, kind: 'query', texts: ['Who bakes bread?'] })
        }
      },
      run: async (batch) => {
        steps.push('run')
        return batch.map(() => ({ vector: new Float32Array(384), tokens: new Int8Array() }))
      },
    },
    ({ id }: Told) => {
      steps.push(`told ${id}`)
      if (id === 1) told.resolve()
    },
  )
  queue.add({ id: 1, kind: 'texts', texts: [longWords(2_000)] })
  await told.promise
  await queue.close()
  const cuts = steps.filter((step) => step === 'cut').length
  assert.ok(cuts > 4, 'the text has several windows')
  assert.deepEqual(steps.slice(0, 7), ['cut', 'cut', 'cut', 'cut', 'query', 'run', 'told 2'])
  assert.deepEqual(steps.slice(7), [
    ...Array.from({ length: cuts - 4 }, () => 'cut'),
    ...Array.from({ length: cuts }, () => 'run'),
    'told 1',
  ])
})
