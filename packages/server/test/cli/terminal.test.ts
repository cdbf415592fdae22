// Output to a terminal: tables that fit, no control sequences, times and progress bars.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { cleanJson, cleanLine, cleanText } from '../../src/cli/terminal/clean.ts'
import { progress } from '../../src/cli/terminal/progress.ts'
import type { Screen } from '../../src/cli/terminal/screen.ts'
import { list, table } from '../../src/cli/terminal/table.ts'
import { when } from '../../src/cli/terminal/when.ts'
import { cut, widthOf, wrap } from '../../src/cli/terminal/width.ts'

const NOW = Date.parse('2026-01-10T12:00:00Z')
const wide = (columns: number, colours = false): Screen => ({ columns, colours, now: () => NOW })
const PIPE: Screen = { columns: null, colours: false, now: () => NOW }

const ID = 'agt_01m7geteska75ev8a499n15v4p'
const LONG = 'It watches the pumps of the northern plant and tells somebody'
const HEAD = ['id', 'name', 'tries']
const rows = (count: number) => Array.from({ length: count }, () => [ID, LONG, 12])

test('[CLI-4] a table fits the terminal: texts are truncated, ids and numbers are not', () => {
  for (const columns of [60, 80, 140]) {
    const lines = table(HEAD, rows(3), wide(columns)).split('\n')
    assert.equal(lines.length, 4)
    for (const line of lines) assert.ok(widthOf(line) <= columns, `${columns}: ${line}`)
    for (const line of lines.slice(1)) assert.ok(line.startsWith(ID) && line.endsWith('12'), line)
    assert.equal(lines[1]!.includes('…'), columns < 140)
  }
})

test('[CLI-4] a table that would be truncated too much is shown as complete records', () => {
  const narrow = table(HEAD, rows(2), wide(50))
  assert.equal(narrow.split('\n\n').length, 2)
  assert.equal(narrow.split(ID).length, 3)
  assert.ok(narrow.replace(/\s+/g, ' ').includes(LONG))
  assert.equal(table(HEAD, rows(6), wide(50)).split('\n').length, 7, 'a long list stays a table')
})

test('[CLI-4] a text that may be cut is cut to the width although there are ids in it', () => {
  const cell = { text: `participant_id: ${ID}, role: owner`, cuttable: true }
  const [head, row] = table(['id', 'details'], [[ID, cell]], wide(50)).split('\n') as [string, string]
  assert.deepEqual([head.indexOf('details'), widthOf(row), row.endsWith('…')], [ID.length + 2, 50, true])
  assert.ok(row.startsWith(ID))
  assert.equal(table(['id', 'details'], [[ID, cell]], PIPE).split('\n')[1], `${ID}  ${cell.text}`)
})

test('[CLI-4] a pipe gets plain text: nothing truncated, nothing coloured', () => {
  const text = table(['state', 'why'], [[{ text: 'failed', style: 'red' }, LONG.repeat(5)]], PIPE)
  assert.equal(text, `state   why\nfailed  ${LONG.repeat(5)}`)
  const coloured = table(['state'], [[{ text: 'failed', style: 'red' }]], wide(80, true))
  assert.notEqual(coloured, stripVTControlCharacters(coloured))
  assert.equal(stripVTControlCharacters(coloured), 'state\nfailed')
  assert.equal(list(['a'], [], { none: 'There is none.' }, PIPE), 'There is none.')
})

test('[CLI-4] wide characters count as two columns', () => {
  assert.deepEqual(['abc', '日本', 'é', '👩‍👩‍👧', '\u001b[1mab\u001b[22m'].map(widthOf), [3, 4, 1, 2, 2])
  assert.equal(cut('日本語の名前', 7), '日本語…')
  const lines = table(['name', 'x'], [['日本', 'a'], ['abcd', 'b']], wide(80)).split('\n') // biome-ignore format: a row each
  assert.deepEqual(lines, ['name  x', '日本  a', 'abcd  b'])
})

test('[CLI-4] control characters in data do not reach a terminal', () => {
  const hostile = 'a\u001b]0;title\u0007b\u009b2Jc\u202ed\u0000\r\ne'
  const harmful = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/
  for (const shown of [cleanText(hostile), cleanLine(hostile), cleanJson({ hostile }), cleanJson(hostile, 2)])
    assert.doesNotMatch(shown, harmful)
  assert.doesNotMatch(table(['x'], [[hostile]], wide(80)), harmful)
  assert.equal(cleanLine('two\nlines'), 'two lines')
  assert.deepEqual(JSON.parse(cleanJson({ hostile })), { hostile }, 'JSON says the same')
})

test('[CLI-4] text is wrapped between words, and keeps its indentation', () => {
  assert.deepEqual(wrap('one two three', 8), ['one two', 'three'])
  assert.deepEqual(wrap(`see ${ID} there`, 10), ['see', ID, 'there'])
  assert.deepEqual(wrap('{\n  "a": 1\n}', 40), ['{', '  "a": 1', '}'])
  assert.deepEqual(wrap('a b\n\nc', null), ['a b', '', 'c'])
})

test('[CLI-4] a time is relative on a terminal, and exact elsewhere', () => {
  const ago = (time: string) => when(time, wide(80))
  assert.deepEqual(
    [
      '2026-01-10T11:59:18Z',
      '2026-01-10T11:00:00Z',
      '2026-01-07T11:00:00Z',
      '2026-01-10T12:00:00Z',
      '2026-01-11T13:00:00Z',
    ].map(ago),
    ['42 s ago', '1 h ago', '3 d ago', 'now', 'in 1 d'],
  )
  assert.equal(when('2026-01-10T11:59:18Z', PIPE), '2026-01-10T11:59:18Z')
  assert.equal(when(null, wide(80)), 'never')
})

test('[CLI-9] progress is one moving line on a terminal, and a line for each per cent elsewhere', () => {
  const shownOn = (on: Screen): string => {
    let written = ''
    const shown = progress('memories', on, (text) => (written += text))
    for (let done = 0; done <= 1000; done++) shown.show(done, 1000)
    shown.end()
    return written
  }
  const moving = shownOn(wide(80))
  assert.equal(moving.split('\n').length, 2)
  assert.match(moving, /\r\[#{15}-{15}\] {2}50% {2}500 of 1000 memories/)
  const lines = shownOn(PIPE).trimEnd().split('\n')
  assert.equal(lines.length, 101)
  assert.match(lines.at(-1)!, /^\[#{30}\] 100% {2}1000 of 1000 memories$/)
  let empty = ''
  progress('', wide(80), (text) => (empty += text)).end()
  assert.equal(empty, '')
})
