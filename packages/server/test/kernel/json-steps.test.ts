// A large JSON text is parsed in steps, with the same result as JSON.parse.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MAX_DEPTH } from '../../src/kernel/json.ts'
import { parseBody, type ParseOptions } from '../../src/kernel/json-steps.ts'
import { TooDeep, textSteps } from '../../src/kernel/json-write.ts'
import { atOnce } from '../../src/kernel/step-turns.ts'

/** Long enough to be read in steps, whatever the rest is. */
const PADDING = `"${'x'.repeat(33_000)}"`

async function parse(text: string, options: ParseOptions = {}): Promise<unknown> {
  const parsed = await parseBody(Buffer.from(text), options)
  return parsed.ok ? parsed.value : parsed
}

test('[SAFE-17] what JSON.parse accepts is read to the same value, wherever the text is cut', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.json({ maxDepth: 5 }), { minLength: 1, maxLength: 6 }), async (parts) => {
      const space = ' \n\t\r'
      // A comma after each long text ends a step, at every depth.
      const nested = parts.reduce(
        (inner, part, i) =>
          i % 2 === 0
            ? `[${space}${part},${PADDING}${space},${inner},${part}]`
            : `{"a":${part},"b":${PADDING},"__proto__":${inner},"a":${part}${space}}`,
        '0',
      )
      assert.deepEqual(await parse(nested), JSON.parse(nested))
    }),
    { numRuns: 60 },
  )
})

test('[SAFE-17] long names and texts are read in steps, wherever their escapes are cut', async () => {
  const character = fc.constantFrom('x', 'é', '😀', '\\"', '\\\\', '\\n', '\\u00e9', 'plain text '.repeat(10))
  const text = fc.tuple(fc.array(character, { minLength: 1, maxLength: 30 }), fc.integer({ min: 1, max: 60_000 }))
  await fc.assert(
    fc.asyncProperty(
      text,
      fc.constantFrom('', '\n', '\\x', '\\u12', '"'),
      fc.nat(60_000),
      async ([parts, length], bad, at) => {
        const once = parts.join('')
        const long = once.repeat(Math.ceil(length / once.length))
        for (const string of [long, parts.map((part) => part.repeat(3_000)).join('')]) {
          const broken = string.slice(0, at) + bad + string.slice(at)
          for (const json of [`{"data":"${broken}"}`, `{"${broken}":[${PADDING}]}`, `["${broken}",1]`]) {
            let expected: unknown = null
            try {
              expected = JSON.parse(json)
            } catch {
              // refused
            }
            const parsed = await parseBody(Buffer.from(json))
            if (expected === null) assert.equal(parsed.ok, false)
            else assert.deepEqual(parsed.ok && parsed.value, expected)
          }
        }
      },
    ),
    { numRuns: 30 },
  )
})

test('[SAFE-17] what JSON.parse refuses is refused: every text with a character taken away or exchanged', async () => {
  const whole = '{"a":"\\u00e9","n":-12.5e+3,"m":{"x":[true,null,{}],"y":"é"},"o":[[],0.1]}'
  const accepts = (text: string): boolean => {
    try {
      JSON.parse(text)
      return true
    } catch {
      return false
    }
  }
  for (let i = 0; i < whole.length; i++)
    for (const other of ['', whole[i]! + whole[i]!, ...',:"{}[]\\0-.ex ']) {
      const text = `[${PADDING},${whole.slice(0, i)}${other}${whole.slice(i + 1)},${PADDING}]`
      assert.equal((await parseBody(Buffer.from(text))).ok, accepts(text), text.replaceAll(PADDING, '…'))
    }
  for (const text of ['', ',', '1', '{}', '[]', '[1,]', '{"a":1,}', '"', '[1}']) {
    const long = text + ' '.repeat(33_000)
    assert.equal((await parseBody(Buffer.from(long))).ok, accepts(long), text)
    const tail = `[${PADDING},1]${text}`
    assert.equal((await parseBody(Buffer.from(tail))).ok, accepts(tail), `after the end: ${text}`)
  }
})

test('[SAFE-17] depth is bounded, long numbers are exact and halves of pairs replaced, in steps too', async () => {
  const nested = (depth: number): string => `${'['.repeat(depth)}${PADDING}${']'.repeat(depth)}`
  assert.ok((await parseBody(Buffer.from(nested(MAX_DEPTH)))).ok)
  assert.ok(!(await parseBody(Buffer.from(nested(MAX_DEPTH + 1)))).ok)
  assert.ok((await parseBody(Buffer.from(nested(MAX_DEPTH + 1)), { extraDepth: 1 })).ok)
  const text = `{"n":9007199254740993,"p":${PADDING},"half":"\\ud800","m":[9007199254740993]}`
  const value = (await parse(text, { exactNumbers: true, wellFormed: true })) as Record<string, unknown>
  assert.deepEqual({ ...value, p: 0 }, { n: 9007199254740993n, p: 0, half: '\ufffd', m: [9007199254740993n] })
})

test('[SAFE-17] the bound of depth is the same for a short text, a member that is left out, and what is written', async () => {
  const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
  const leaveOut = (name: string): boolean => name === 'data'
  const isTaken = async (text: string, options: ParseOptions = {}): Promise<boolean> =>
    (await parseBody(Buffer.from(text), options)).ok
  const isWritten = (depth: number): boolean => {
    try {
      return atOnce(textSteps(JSON.parse(nested(depth)), MAX_DEPTH)) === nested(depth)
    } catch (error) {
      assert.ok(error instanceof TooDeep)
      return false
    }
  }
  for (const [depth, fits] of [
    [MAX_DEPTH, true],
    [MAX_DEPTH + 1, false],
  ] as const) {
    assert.equal(await isTaken(nested(depth)), fits)
    assert.equal(await isTaken(nested(depth + 1), { extraDepth: 1 }), fits)
    assert.equal(await isTaken(nested(depth - 1), { extraDepth: -1 }), fits)
    assert.equal(await isTaken(`{"data":${nested(depth - 1)},"p":${PADDING}}`, { leaveOut }), fits)
    assert.equal(await isTaken(`{"data":${nested(depth)},"p":${PADDING}}`, { leaveOut, extraDepth: 1 }), fits)
    assert.equal(isWritten(depth), fits)
  }
  assert.equal(await isTaken(JSON.stringify('["\\'.repeat(MAX_DEPTH))), true, 'brackets of a string do not count')
})

test('[SAFE-17] a member that is left out is checked but not kept', async () => {
  const text = `{"a":1,"data":[${PADDING},{"data":2}],"b":{"data":3},"c":${PADDING}}`
  const value = (await parse(text, { leaveOut: (name) => name === 'data' })) as Record<string, unknown>
  assert.deepEqual({ ...value, c: 0 }, { a: 1, data: undefined, b: { data: 3 }, c: 0 })
  assert.ok('data' in value)
  assert.ok(
    !(await parseBody(Buffer.from(text.replace('"data":2', '"data":')), { leaveOut: (name) => name === 'data' })).ok,
  )
})

test('[SAFE-34] nested members can be left out', async () => {
  const text = `{"a":"1","junk":[{},{}],"more":{"a":[]},"kept":[1],"c":${PADDING}}`
  const leaveOut = (name: string, isNested: boolean): boolean => isNested && name !== 'kept'
  const value = (await parse(text, { leaveOut })) as Record<string, unknown>
  assert.deepEqual({ ...value, c: 0 }, { a: '1', junk: undefined, more: undefined, kept: [1], c: 0 })
})

test('[SAFE-17] other work gets turns while a megabyte of the smallest values is parsed', async () => {
  const text = `[${Array(300_000).fill('{}').join(',')}]`
  let turns = 0
  let isOver = false
  const others = (async () => {
    for (; !isOver; turns++) await new Promise(setImmediate)
  })()
  assert.equal(((await parse(text)) as unknown[]).length, 300_000)
  isOver = true
  await others
  // 4 KiB in each turn.
  assert.ok(turns >= 200, `${turns} turns`)
})
