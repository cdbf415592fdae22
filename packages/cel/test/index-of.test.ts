// The search for long texts, compared with the engine's own, on texts and needles that repeat themselves.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { indexOfLinear } from '../src/index-of.ts'

const few = (most: number) => fc.string({ unit: fc.constantFrom('a', 'b', 'é'), minLength: 1, maxLength: most })

/** Needles of more than 32 units, which alone are not left to the engine, in texts that nearly hold them. */
const repetitive = fc
  .record({ period: few(6), times: fc.integer({ min: 40, max: 70 }), end: few(4), rest: few(40), from: fc.nat(50) })
  .map(({ period, times, end, rest, from }) => {
    const needle = period.repeat(times).slice(0, 33 + (times % 20)) + end
    const nearly = `${needle.slice(0, -1)}x`
    return {
      needle,
      from,
      texts: [period.repeat(400) + rest, period.repeat(400) + nearly + needle + rest, rest + needle],
    }
  })

test('[CEL-3] in time linear in both, a text is found where the engine finds it', () => {
  let found = 0
  fc.assert(
    fc.property(repetitive, ({ needle, texts, from }) => {
      for (const text of texts) {
        const at = text.indexOf(needle, from)
        if (at >= 0) found++
        assert.equal(indexOfLinear(text, needle, from), at)
      }
    }),
    { numRuns: 1_000 },
  )
  assert.ok(found > 500, `${found} found`)
})
