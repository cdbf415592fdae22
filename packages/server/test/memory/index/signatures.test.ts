// The windows of a tenant by their signatures: what is near enough is among those that are compared exactly.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { neverYield } from '../../../src/kernel/yield-cpu.ts'
import { Signatures, WANTED } from '../../../src/memory/index/signatures.ts'

const DIMENSIONS = 384
const UNRELATED = 500

/** Returns a random vector of length 1. */
function randomVector(random: () => number): Float32Array {
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  return withLengthOne(Float32Array.from({ length: DIMENSIONS }, normal))
}

function withLengthOne(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, x) => sum + x * x, 0))
  return vector.map((x) => x / length)
}

/** Returns a vector that has about this cosine with another one. */
const near = (vector: Float32Array, cos: number, random: () => number): Float32Array => {
  const other = randomVector(random)
  return withLengthOne(vector.map((x, i) => cos * x + Math.sqrt(1 - cos * cos) * other[i]!))
}

function signatureOf(vector: Float32Array): Uint8Array {
  const signature = new Uint8Array(DIMENSIONS / 8)
  vector.forEach((x, i) => void (x >= 0 && (signature[i >> 3]! |= 1 << (i & 7))))
  return signature
}

const cosOf = (a: Float32Array, b: Float32Array): number => a.reduce((sum, x, i) => sum + x * b[i]!, 0)

function randomOf(seed: number): () => number {
  let state = seed
  return () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32
}

test('[KEP-12] of the windows, those that may have the least cosine are compared, and few others', () => {
  fc.assert(
    fc.property(fc.nat(), fc.array(fc.double({ min: 0.9, max: 1, noNaN: true }), { maxLength: 20 }), (seed, wished) => {
      const random = randomOf(seed)
      const asked = randomVector(random)
      const vectors = [
        ...wished.map((cos) => near(asked, cos, random)),
        ...Array.from({ length: UNRELATED }, () => randomVector(random)),
      ]
      const signatures = new Signatures()
      vectors.forEach((vector, row) => signatures.add(row, 0, signatureOf(vector)))
      const mask = new Uint8Array(vectors.length).fill(WANTED)
      const rowsFor = (leastCos?: number): Set<number> =>
        new Set(signatures.nearest({ vector: asked, many: 192, leastCos }, mask, neverYield).map(({ row }) => row))

      const compared = rowsFor(0.92)
      vectors.forEach((vector, row) => {
        if (cosOf(asked, vector) >= 0.92) assert.ok(compared.has(row), `${cosOf(asked, vector)} was left out`)
      })
      assert.ok(
        [...compared].every((row) => row < wished.length),
        'an unrelated one was compared',
      )
      assert.ok(rowsFor().size >= 192, 'without a least cosine, many are')
    }),
  )
})
