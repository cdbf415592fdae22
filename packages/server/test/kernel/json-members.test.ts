// A large JSON object is read in steps, with the same result as JSON.parse.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MAX_DEPTH } from '../../src/kernel/json.ts'
import { type JsonText, jsonText, readMembers } from '../../src/kernel/json-members.ts'

const WANTED = { names: new Set(['title', 'count', 'metadata']), asText: new Set(['metadata']) }
const read = (text: string | Buffer) => readMembers(Buffer.from(text as string), WANTED)

const accepts = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

test('[RCL-1] what JSON.parse accepts is read with the same values, and text members keep their text', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.json({ maxDepth: 6 }),
      fc.jsonValue(),
      fc.integer({ min: 0, max: 3 }),
      async (json, title, pad) => {
        const space = ' \n\t\r'.slice(0, pad)
        const text = `${space}{"other":${json},"title":1,"title":${space}${JSON.stringify(title)},"metadata":{"a":${json}}${space}}${space}`
        const result = await read(text)
        assert.ok(result.ok)
        const value = result.value as { title: unknown; metadata: JsonText; other: unknown }
        const plain = JSON.parse(text) as { title: unknown }
        if (JSON.stringify(plain.title).length < 4_000 && !/\\u[dD]/.test(text))
          assert.deepEqual(value.title, plain.title)
        assert.equal(value.metadata.bytes.toString(), `{"a":${json}}`)
        assert.equal(jsonText(value.metadata), `{"a":${json}}`)
        if (json.length < 4_000 && !/\\u[dD]/.test(json)) assert.deepEqual(value.other, JSON.parse(json))
      },
    ),
  )
})

test('[RCL-1] what JSON.parse refuses is refused: every text with a character taken away, doubled or exchanged', async () => {
  const whole = '{"title":"a\\u00e9\\n","count":-12.5e+3,"metadata":{"x":[true,false,null,{}],"y":"é"},"more":[[],0.1]}'
  for (let i = 0; i < whole.length; i++)
    for (const other of ['', whole[i]! + whole[i]!, ...',:"{}[]\\0-+.e\u0001x '])
      for (const text of [whole.slice(0, i) + other + whole.slice(i + 1)])
        assert.equal((await read(text)).ok, accepts(text), text)
  for (const text of [
    '',
    ' ',
    '{',
    '{"a"',
    '{"a":1,}',
    '[1,]',
    '01',
    '1.',
    '1e',
    '-',
    'tru',
    '"\\u12g4"',
    '"\\x"',
    '1 2',
    '{}{}',
  ])
    assert.equal((await read(text)).ok, false, text)
})

test('[RCL-1] depth, broken UTF-8 and other kinds of JSON', async () => {
  const nested = (depth: number): string => `{"metadata":${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}`
  assert.equal((await read(nested(MAX_DEPTH - 1))).ok, true)
  assert.deepEqual(await read(nested(MAX_DEPTH)), { ok: false, problem: `JSON nested at most ${MAX_DEPTH} deep` })
  assert.deepEqual(await read(Buffer.from([0x22, 0xff, 0x22])), { ok: false, problem: 'JSON in UTF-8' })
  assert.deepEqual(await read('[1]'), { ok: true, value: [1] })
  assert.deepEqual(await read(`[${'[],'.repeat(5_000)}1]`), { ok: true, value: [] })
  const long = await read(`{"title":"${'x'.repeat(500_000)}","count":[${'1,'.repeat(9_000)}1],"metadata":3}`)
  assert.ok(long.ok)
  const { title, count, metadata } = long.value as { title: string; count: unknown; metadata: unknown }
  assert.ok(title.length > 32_768)
  assert.deepEqual([count, metadata], [[], 3])
})

test('[RCL-1] other work gets turns while a large object is read, whatever it is made of', async () => {
  const many = (part: string): string => part.repeat(Math.ceil(4_000_000 / part.length))
  const lists = ['[],', '{},', '"abc",', '1,', '{"a":1},'].map((part) => [part, `{"list":[${many(part)}0]}`])
  const texts = ['x', '\\"', '\\n'].flatMap((part) => [
    [part, `{"text":"${many(part)}"}`],
    [`${part} in a name`, `{"${many(part)}":1}`],
  ])
  for (const [part, metadata] of [...lists, ...texts]) {
    let turns = 0
    let over = false
    const others = (async () => {
      for (; !over; turns++) await new Promise(setImmediate)
    })()
    const result = await read(`{"title":"t","metadata":${metadata}}`)
    over = true
    await others
    assert.ok(result.ok && (result.value as { metadata: JsonText }).metadata.bytes.toString() === metadata)
    // 8 KiB in each turn.
    assert.ok(turns >= 450, `${turns} turns beside 4 MB of ${part}`)
  }
})
