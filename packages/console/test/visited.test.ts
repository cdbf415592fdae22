// Where the arrow of a page leads, by the pages that were visited before it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stepsBack } from '../src/components/visited.ts'

test('[UI-63] the arrow goes back to the list that was left, past other items of it', () => {
  assert.equal(stepsBack(['/', '/memory', '/memory/1'], '/memory', 2), 1)
  assert.equal(stepsBack(['/memory', '/memory/1', '/memory/graph', '/memory/2'], '/memory', 3), 3)
})

test('[UI-63] the arrow does not go back past another page, nor before the tab was loaded', () => {
  assert.equal(stepsBack(['/memory', '/agents', '/memory/1'], '/memory', 2), null)
  assert.equal(stepsBack(['/memories', '/memory/1'], '/memory', 1), null)
  assert.equal(stepsBack(['/memory/1'], '/memory', 0), null)
  assert.equal(stepsBack([undefined, undefined, '/memory/1'], '/memory', 2), null)
})
