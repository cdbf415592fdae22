// Filters that are tried in the page.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tryFilter } from '../src/components/try-filter.ts'

test('[UI-6] what a filter gives is described, whatever value the publisher chose', async () => {
  const { test: outcomeOf } = await tryFilter('data.value')
  const why = (value: unknown): string => outcomeOf({ data: { value } }).why
  assert.deepEqual(outcomeOf({ data: { value: true } }), { matches: true, why: 'it gives true' })
  assert.deepEqual(outcomeOf({ data: { value: 'a' } }), { matches: false, why: 'it gives "a"' })
  assert.equal(why({ toString: 1, valueOf: 1 }), 'it gives a map')
  assert.deepEqual(outcomeOf({ data: {} }), { matches: false, why: 'no such field: value' })
})
