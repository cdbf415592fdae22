// New memories are compared in a moment or not at all, and what takes longer holds up nobody else.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { makeLogger } from '../../src/kernel/logger.ts'
import { makeSimilar, type SimilarTools } from '../../src/memory/similar.ts'
import type { Viewer } from '../../src/memory/see.ts'
import { fakeClock } from '../support/fake-clock.ts'

const viewer = (tenantId: string): Viewer => ({ kind: 'agent', id: 'a', tenantId, teamId: null }) as Viewer
const EMBEDDED = { vector: new Float32Array(4), tokens: new Int8Array() }

test('[KEP-12] a tenant whose memories are being embedded keeps no place of those that compare', async () => {
  const clock = fakeClock()
  const busy = Promise.withResolvers<void>()
  const embedded: string[] = []
  const similar = makeSimilar({
    clock,
    log: makeLogger('silent'),
    index: { prepare: async () => {}, nearest: async () => [] },
    embedder: {
      isInProcess: true,
      model: 'm',
      embed: async (texts: readonly string[]) => {
        embedded.push(...texts)
        return [[EMBEDDED]]
      },
    },
    embedding: { isCalm: () => true, idleIn: (tenantId: string) => (tenantId === 'free' ? undefined : busy.promise) },
  } as unknown as SimilarTools)
  const waiting = ['one', 'two'].map((tenantId) => similar.compareNew(viewer(tenantId), tenantId))
  assert.equal(await similar.compareNew(viewer('free'), 'early'), null, 'two look at the same time')
  await clock.advance(2_000)
  assert.deepEqual(await Promise.all(waiting), [null, null])
  assert.ok(await similar.compareNew(viewer('free'), 'late'))
  busy.resolve()
  for (let turn = 0; turn < 5; turn++) await nextTurn()
  assert.deepEqual(embedded, ['late'], 'what nobody waits for is not embedded')
})
