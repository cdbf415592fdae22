// The score that is told: a chance, made of the relevance that orders.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chanceOf, type Basis, type Scale } from '../../src/memory/calibrate.ts'

const scale = (more: Partial<Scale> = {}): Scale => ({ basis: 'tokens', averageLength: 30, memories: 900, ...more })

test('[RCL-40] a score lies in 0..1 and rises with relevance, whatever it is made of and however much there is', () => {
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

test('[RCL-40] the same relevance says less among many memories, and more of pages than of messages', () => {
  assert.ok(chanceOf(0.5, scale({ memories: 10_000 })) < chanceOf(0.5, scale({ memories: 100 })))
  assert.ok(chanceOf(0.5, scale({ averageLength: 116 })) > chanceOf(0.5, scale({ averageLength: 30 })))
  // Fewer than were measured count as the fewest that were.
  assert.equal(chanceOf(0.5, scale({ memories: 1 })), chanceOf(0.5, scale({ memories: 8 })))
})

// What judged questions had: the relevance of the first result, and how often a judge agreed.
test('[RCL-40] what a stranger reaches is nearly no chance, what a good answer reaches is likely', () => {
  assert.ok(chanceOf(0.3, scale()) < 0.02)
  assert.ok(chanceOf(0.3, scale({ memories: 8 })) < 0.08)
  assert.ok(chanceOf(0.75, scale()) > 0.5)
  assert.ok(chanceOf(0.6, scale({ memories: 40 })) > 0.5)
})
