// The short block of a preset, from bodies that no provider sends.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compactGithub } from '../../../src/ingest/webhooks/compact-github.ts'
import { compactStripe } from '../../../src/ingest/webhooks/compact-stripe.ts'
import { compileFilter } from '../../../src/routing/filter.ts'
import { firstNames } from '../../../src/kernel/first-names.ts'
import { parseBody } from '../../../src/kernel/json-steps.ts'

type Json = Record<string, unknown>

async function parsed(text: string): Promise<Json> {
  const result = await parseBody(Buffer.from(text))
  assert.ok(result.ok)
  return result.value as Json
}

/** An object of so many members, as text. */
const wide = (members: number, value = '0'): string =>
  `{${Array.from({ length: members }, (_, i) => `"k${i}":${value}`).join()}}`
const countOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Object.values(value).reduce((n, v) => n + countOf(v), 0) : 1

test('[ING-4] of an object with 90,000 members, 200 are looked at', async () => {
  for (const members of [900, 90_000]) {
    const body = await parsed(wide(members))
    const kept = compactGithub(body) as Json
    assert.deepEqual(
      Object.keys(kept),
      Array.from({ length: 200 }, (_, i) => `k${i}`),
      `${members} members`,
    )
    assert.deepEqual(compactStripe({ data: { object: body, previous_attributes: body } }), {
      ...kept,
      previous_attributes: kept,
    })
    assert.deepEqual(compactStripe({ data: { object: { metadata: body } } }), { metadata: kept })
  }
})

test('[ING-4] the names of such an object are not listed again after it was read', async () => {
  const { x: inner } = await parsed(`{"a":1,"x":${wide(90_000)},"b":2}`)
  assert.equal(firstNames(inner as Json), firstNames(inner as Json))
})

test('[ING-4] of a whole body 5,000 members and items are looked at', async () => {
  const list = (depth: number): string =>
    depth === 0
      ? '0'
      : `[${Array(20)
          .fill(list(depth - 1))
          .join()}]`
  for (const text of [wide(200, wide(200)), `{"x":${list(4)}}`]) {
    assert.ok(countOf(JSON.parse(text)) > 40_000)
    assert.equal(countOf(compactGithub(await parsed(text))), 1 + 5_000)
  }
})

test('[ING-4] of a GitHub body three levels are kept', () => {
  assert.deepEqual(compactGithub({ a: { b: { c: { d: 1 }, e: 2 } } }), { a: { b: { e: 2 } } })
})

test('[ING-4] of the metadata of a Stripe object scalars are kept, null too', () => {
  const object = { metadata: { a: 1, b: { c: 1 }, d: [1], e: null } }
  assert.deepEqual(compactStripe({ data: { object } }), { metadata: { a: 1, e: null } })
})

test('[ING-4] `__proto__` is a member like any other: no filter sees what the data does not show', () => {
  const hostile = '{"action":"opened","__proto__":{"celsius":99},"inner":{"__proto__":{"celsius":99}}}'
  const data = compactGithub(JSON.parse(hostile))
  assert.equal(JSON.stringify(data), hostile)
  for (const filter of ['data.celsius > 80', 'data.inner.celsius > 80'])
    assert.equal(compileFilter(filter).test({ data }), false)
  const object = '{"id":"in_1","__proto__":"cus_1","metadata":{"__proto__":"a"}}'
  assert.equal(JSON.stringify(compactStripe({ data: { object: JSON.parse(object) } })), object)
})
