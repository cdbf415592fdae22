// The examples of docs/filters.md, each evaluated for the event above its table.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { compileFilter, type Envelope } from '../../src/routing/filter.ts'

const page = readFileSync(path.resolve(import.meta.dirname, '../../../../docs/filters.md'), 'utf8')
const ROW = /^\| [^|`]+ \| `(.+)` \| (match|no match) \|$/gm

interface Example {
  event: Envelope
  filter: string
  result: string
}

const examples: Example[] = page.split('```json').flatMap((part, i) => {
  const [json, rows] = part.split('```')
  if (i === 0) return []
  const event = JSON.parse(json!) as Envelope
  // A table cannot hold a bare `|`, not even in code.
  return [...rows!.matchAll(ROW)].map(([, filter, result]) => ({
    event,
    filter: filter!.replaceAll('\\|', '|'),
    result: result!,
  }))
})

test('[CEL-8] every row of the page is found', () => {
  assert.ok(examples.length >= 30)
  assert.equal(examples.length, [...page.matchAll(/\| (?:no )?match \|$/gm)].length)
})

for (const { event, filter, result } of examples) {
  test(`[CEL-8] ${result}: ${filter}`, () => {
    const found = compileFilter(filter).evaluate(event).result
    assert.notEqual(found, 'over_budget')
    assert.equal(found === 'match' ? 'match' : 'no match', result)
  })
}
