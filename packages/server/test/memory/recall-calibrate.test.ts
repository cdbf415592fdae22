// The score in responses: a probability, computed from the relevance that results are ordered by.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chanceOf, type Basis, type Scale } from '../../src/memory/calibrate.ts'

const scale = (more: Partial<Scale> = {}): Scale => ({ basis: 'tokens', averageLength: 30, memories: 900, ...more })

test('[RCL-40] a score lies in 0..1 and rises with relevance, whatever its basis and the number of memories', () => {
  for (const basis of ['tokens', 'vectors', 'words'] satisfies Basis[])
    for (const averageLength of [0, 8, 30, 70, 116, 5_000])
      for (const memories of [0, 1, 8, 1_000, 10_000, 1_000_000]) {
        let last = -1
        for (let relevance = 0; relevance <= 1; relevance += 1 / 64) {
          const chance = chanceOf(relevance, { basis, averageLength, memories })
          assert.ok(chance >= 0 && chance <= 1 && chance > last, `${basis} ${averageLength} ${memories} ${relevance}`)
          last = chance
        }
      }
  assert.equal(chanceOf(0, scale()), 0)
})

test('[RCL-40] the same relevance means less among many memories, and more for long texts than for short ones', () => {
  assert.ok(chanceOf(0.5, scale({ memories: 10_000 })) < chanceOf(0.5, scale({ memories: 100 })))
  assert.ok(chanceOf(0.5, scale({ averageLength: 116 })) > chanceOf(0.5, scale({ averageLength: 30 })))
  // Fewer memories than were measured count as the smallest number that was.
  assert.equal(chanceOf(0.5, scale({ memories: 1 })), chanceOf(0.5, scale({ memories: 8 })))
})

// From judged questions: the relevance of the first result, and how often a judge agreed with it.
test('[RCL-40] the relevance of an unrelated memory scores near 0, that of a good answer over 0.5', () => {
  assert.ok(chanceOf(0.3, scale()) < 0.02)
  assert.ok(chanceOf(0.3, scale({ memories: 8 })) < 0.08)
  assert.ok(chanceOf(0.75, scale()) > 0.5)
  assert.ok(chanceOf(0.6, scale({ memories: 40 })) > 0.5)
})
