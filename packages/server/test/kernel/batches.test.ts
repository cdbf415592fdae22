import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { makeBatches } from '../../src/kernel/batches.ts'

/** A gate that a test opens: batches wait in front of it. */
function gate(): { pass: Promise<void>; open(): void } {
  let open!: () => void
  const pass = new Promise<void>((resolve) => (open = resolve))
  return { pass, open }
}

const turn = (): Promise<void> => new Promise(setImmediate)

test('[RTE-1] items added in one turn form one batch, those added while every lane is busy the next', async () => {
  const ran: number[][] = []
  const first = gate()
  const batches = makeBatches<number, number>({
    lanes: 1,
    run: async (items) => {
      ran.push([...items])
      if (ran.length === 1) await first.pass
      return items.map((n) => n * 10)
    },
  })
  const together = [batches.add(1), batches.add(2)]
  await turn()
  const later = [batches.add(3), batches.add(4)]
  await turn()
  assert.deepEqual(ran, [[1, 2]])
  first.open()
  assert.deepEqual(await Promise.all([...together, ...later]), [10, 20, 30, 40])
  assert.deepEqual(ran, [
    [1, 2],
    [3, 4],
  ])
})

test('[RTE-1] every item is in one batch, in order, and no batch exceeds its size or weight', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 60 }),
      fc.integer({ min: 1, max: 8 }),
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 1, max: 3 }),
      async (weights, maxItems, maxWeight, lanes) => {
        const ran: number[][] = []
        let busy = 0
        const batches = makeBatches<number, number>({
          lanes,
          maxItems,
          maxWeight: () => maxWeight,
          weigh: (i) => weights[i]!,
          run: async (items) => {
            assert.ok(++busy <= lanes)
            ran.push([...items])
            await turn()
            busy--
            return items
          },
        })
        assert.deepEqual(
          await Promise.all(weights.map((_, i) => batches.add(i))),
          weights.map((_, i) => i),
        )
        assert.deepEqual(
          ran.flat(),
          weights.map((_, i) => i),
        )
        for (const items of ran) {
          assert.ok(items.length <= maxItems)
          // Without its last item every batch has room left.
          assert.ok(items.slice(0, -1).reduce((sum, i) => sum + weights[i]!, 0) < maxWeight)
        }
      },
    ),
    { numRuns: 50 },
  )
})

test('[SAFE-38] an item that fills a batch alone shares it with no other', async () => {
  const ran: number[][] = []
  const batches = makeBatches<number, number>({
    maxWeight: () => 10,
    weigh: (weight) => weight,
    run: async (items) => (ran.push([...items]), [...items]),
  })
  await Promise.all([1, 2, 30, 3, 10, 9, 9].map((weight) => batches.add(weight)))
  assert.deepEqual(ran, [[1, 2], [30], [3], [10], [9, 9]])
})

test('[SAFE-38] an item that needs a batch of its own is not passed by those after it', async () => {
  const ran: string[][] = []
  const batches = makeBatches<string, string>({
    lanes: 1,
    maxWeight: () => 2,
    weigh: (item) => (item === 'heavy' ? 2 : 0),
    ownerOf: (item) => ({ tenantId: 't', senderId: item }),
    run: async (items) => (ran.push([...items]), items),
  })
  await Promise.all(['first', 'heavy', 'last'].map((item) => batches.add(item)))
  assert.deepEqual(ran, [['first'], ['heavy'], ['last']])
})

test('[RTE-1] a batch that throws rejects its own items, and an item can fail alone', async () => {
  const batches = makeBatches<string, string>({
    maxItems: 2,
    lanes: 1,
    run: async (items) => {
      if (items.includes('all')) throw new Error('the whole batch')
      return items.map((item) => (item === 'one' ? Promise.reject(new Error('this item')) : item))
    },
  })
  const settled = await Promise.allSettled(['all', 'a', 'one', 'b', 'c'].map((item) => batches.add(item)))
  assert.deepEqual(
    settled.map((one) => (one.status === 'fulfilled' ? one.value : (one.reason as Error).message)),
    ['the whole batch', 'the whole batch', 'this item', 'b', 'c'],
  )
  const wrong = makeBatches<string, string>({ run: async () => [] })
  await assert.rejects(wrong.add('x'), /1 items gave 0 results/)
})

test('[RTE-1] beside a batch under way a second begins when enough items wait, not for one item', async () => {
  const ran: number[] = []
  const open = gate()
  const batches = makeBatches<number, number>({
    lanes: 2,
    whileBusy: { minWaiting: 3, maxWaitMs: 1_000_000 },
    run: async (items) => {
      ran.push(items.length)
      if (ran.length === 1) await open.pass
      return items
    },
  })
  const first = batches.add(1)
  await turn()
  const second = [batches.add(2), batches.add(3)]
  await turn()
  assert.deepEqual(ran, [1])
  second.push(batches.add(4))
  await Promise.all(second)
  assert.deepEqual(ran, [1, 3])
  open.open()
  await first
})

test('[RTE-1] patience ends: a few items do not wait for a slow batch', async () => {
  const open = gate()
  let ran = 0
  const batches = makeBatches<number, number>({
    lanes: 2,
    whileBusy: { minWaiting: 100, maxWaitMs: 1 },
    run: async (items) => {
      if (++ran === 1) await open.pass
      return items
    },
  })
  const slow = batches.add(1)
  await turn()
  assert.equal(await batches.add(2), 2)
  open.open()
  await slow
})

test('[SAFE-39] tenants take turns in a batch, and senders inside a tenant', async () => {
  const ran: string[][] = []
  const batches = makeBatches<string, string>({
    lanes: 1,
    maxItems: 4,
    ownerOf: (item) => ({ tenantId: item[0]!, senderId: item[1]! }),
    run: async (items) => {
      ran.push([...items])
      return items
    },
  })
  await Promise.all(['ax1', 'ax2', 'ax3', 'ax4', 'ax5', 'ay1', 'bz1'].map(batches.add))
  assert.deepEqual(ran, [
    ['ax1', 'bz1', 'ay1', 'ax2'],
    ['ax3', 'ax4', 'ax5'],
  ])
})

test('[SAFE-38] tenants with nothing under way share a separate batch, even if every lane is busy', async () => {
  const ran: string[][] = []
  const gates: (() => void)[] = []
  const batches = makeBatches<string, string>({
    lanes: 2,
    maxItems: 3,
    whileBusy: { minWaiting: 2, maxWaitMs: 3_600_000 },
    ownerOf: (tenantId) => ({ tenantId, senderId: tenantId }),
    apart: true,
    run: async (items) => {
      ran.push([...items])
      await new Promise<void>((resolve) => void gates.push(resolve))
      return items
    },
  })
  const all = Array.from({ length: 20 }, () => batches.add('loud'))
  await turn()
  assert.deepEqual(ran, [
    ['loud', 'loud', 'loud'],
    ['loud', 'loud', 'loud'],
  ])
  all.push(batches.add('quiet'), batches.add('other'))
  await turn()
  assert.deepEqual(ran[2], ['quiet', 'other'], 'beside both lanes, and without the flood')
  all.push(batches.add('third'))
  await turn()
  assert.equal(ran.length, 3, 'one such batch at a time')
  while (gates.length > 0) {
    gates.shift()!()
    await turn()
    await turn()
  }
  assert.equal((await Promise.all(all)).length, 23)
  assert.equal(ran.flat().length, 23)
})
