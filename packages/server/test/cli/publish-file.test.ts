// What is wrong with a file of events is said before anything is sent: no service is needed.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { command } from '../support/process.ts'
import { newHome } from './home.ts'

const home = newHome()
after(() => home.drop())
const env = { ...home.env, SENSORIUM_KEY: `ak_live_${'a'.repeat(32)}`, SENSORIUM_URL: 'http://127.0.0.1:1' }
const file = path.join(home.env['HOME']!, 'events.ndjson')

const wrong: [what: string, text: string, message: RegExp][] = [
  ['no event', '\n', /^The file holds no events\n$/],
  ['a line that is no JSON', '{"type":"a.b"}\n{"type":"a.b"}\ngarbage\n', /^line 3 is not JSON: (?!.*line)/],
  ['empty lines count', '\uFEFF\n{"type":"a.b"}\r\n\n{"type":"a.b",}\n', /^line 4 is not JSON: .*\(column 15\)/],
  ['so does indentation', '   {"type":"a.b"}\n   {"type":"a.b",}\n', /^line 2 is not JSON: .*\(column 18\)/],
  ['a file of one event', '\n{\n  "type": "a.b",\n}\n', /^the file is not JSON: .*\(line 4 column 1\)/],
  ['no type, on a line', '{"type":"a.b"}\n\n{"typ":"a.b"}\n', /^event 2 is not an object with a type/],
  ['no type, in a list', '[{"type":"a.b"},{"type":"a.b"},null]', /^event 3 is not an object with a type/],
]
for (const [what, text, message] of wrong)
  test(`[CLI-1][CLI-9] a file of events that is wrong: ${what}`, async () => {
    writeFileSync(file, text)
    const { code, stderr } = await command(['publish', '--file', file], env)
    assert.equal(code, 2)
    assert.match(stderr, message)
  })

test('[CLI-1][CLI-9] space that JSON does not know may stand around an event', async () => {
  writeFileSync(file, '\uFEFF\u00a0{"type":"a.b"}\f\u00a0\n')
  const { code, stderr } = await command(['publish', '--file', file], env)
  assert.equal(code, 5, stderr) // nobody responds
})

test('[CLI-1] a type and a file are not given together', async () => {
  assert.match((await command(['publish', 'a.b', '--file', file], env)).stderr, /, not both$/m)
})
