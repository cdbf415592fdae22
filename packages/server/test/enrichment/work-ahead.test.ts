// What is searched ahead of a poll, in which order, and for how long it is kept.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import type { NewDelivery } from '../../src/delivery/handover.ts'
import { makeAhead, type AheadTools } from '../../src/enrichment/ahead.ts'
import { makeEnrich } from '../../src/enrichment/enrich.ts'
import { makeLogger } from '../../src/kernel/logger.ts'
import { makeStepTurns } from '../../src/kernel/step-turns.ts'
import type { Recall } from '../../src/memory/recall.ts'
import type { Recalled } from '../../src/memory/index/memory-index.ts'
import { fakeClock } from '../support/fake-clock.ts'

const RECALLED: Recalled = {
  id: 'mem_1',
  score: 0.5,
  signals: { similarity: 0.6, lexical: 0.2, confidence: 1, recency: 1, importance: 0.5 },
}

describe('the work ahead', () => {
  const delivery = (recipient: string, id: string, message: string): NewDelivery => ({
    ...{
      tenant_id: `ten_${recipient[0]}`,
      recipient_id: recipient,
      id,
      event_id: id,
      priority: 0,
      enrichment: 'light',
    },
    ...{ matched: '{}', created_at: 0, envelope: JSON.stringify({ type: 'a.b', data: { message } }) },
  })
  const tools = (found: Partial<AheadTools>): AheadTools =>
    ({
      store: { rows: async () => [], lookUp: async () => [] },
      clock: { elapsed: () => 0 },
      log: makeLogger('silent'),
      searchFingerprint: async () => 'as it is',
      readAhead: async () => {},
      recall: async () => [RECALLED],
      ...found,
    }) as unknown as AheadTools
  const expected = { hasMemories: true, wereUnchanged: true }

  test('[ENR-8] events with the same content share one search', async () => {
    let asked = 0
    const ahead = makeAhead(
      tools({
        recall: async () => {
          asked++
          return [RECALLED]
        },
      }),
    )
    ahead.polled({ tenantId: 'ten_a', recipientId: 'a1' }, expected)
    ahead.deliveriesAdded([delivery('a1', 'd1', 'hot')])
    await ahead.idle()
    ahead.deliveriesAdded([delivery('a1', 'd2', 'hot'), delivery('a1', 'd3', 'cold')])
    await ahead.idle()
    assert.equal(asked, 2)
    assert.deepEqual((await ahead.take('d2'))?.recalled, [RECALLED])
    assert.equal(await ahead.take('d2'), null, 'it is given out once')
  })

  test('[ENR-8] a poll whose search failed does not change what is expected', async () => {
    const ahead = makeAhead(tools({}))
    const searched = async (id: string): Promise<boolean> => {
      ahead.deliveriesAdded([delivery('a1', id, 'hot')])
      await ahead.idle()
      return (await ahead.take(id)) !== null
    }
    const polled = async (recall: Recall): Promise<void> => {
      const found = { ...ahead, searchFingerprint: async () => null, count() {} }
      const { store, clock, log } = { ...tools({}), clock: fakeClock() }
      const enrich = makeEnrich({ store, recall, clock, log, steps: makeStepTurns(), ahead: found })
      await enrich({ tenantId: 'ten_a', recipientId: 'a1' }, [
        { id: 'now', eventId: 'now', depth: 'light', envelope: '{"type":"a.b","data":"hot"}' },
      ])
    }
    ahead.polled({ tenantId: 'ten_a', recipientId: 'a1' }, expected)
    await polled(async () => Promise.reject(new Error('too many searches')))
    assert.equal(await searched('d1'), true)
    await polled(async () => [])
    assert.equal(await searched('d2'), false, 'it remembers nothing')
  })

  test('[ENR-7] columns of a tenant that two threads have read never have the same name', async () => {
    const url = new URL('../../src/memory/index/tenant-columns.ts', import.meta.url)
    const nameInThread = async (): Promise<unknown> => {
      const code = `import(${JSON.stringify(url)}).then(({ TenantColumns }) =>
        require('node:worker_threads').parentPort.postMessage(new TenantColumns([]).name))`
      const [name] = await once(new Worker(code, { eval: true }), 'message')
      return name
    }
    assert.notEqual(await nameInThread(), await nameInThread())
  })

  test('[ENR-8] while memories keep changing, texts are only embedded ahead, not searched', async () => {
    const done: string[] = []
    const ahead = makeAhead(
      tools({
        recall: async () => (done.push('searched'), [RECALLED]),
        readAhead: async () => void done.push('read'),
      }),
    )
    ahead.polled({ tenantId: 'ten_a', recipientId: 'a1' }, { hasMemories: true, wereUnchanged: false })
    ahead.deliveriesAdded([delivery('a1', 'd1', 'hot')])
    await ahead.idle()
    assert.deepEqual(done, ['read'])
    assert.deepEqual((await ahead.take('d1'))?.recalled, null)
    ahead.polled({ tenantId: 'ten_a', recipientId: 'a1' }, expected)
    ahead.deliveriesAdded([delivery('a1', 'd2', 'hot')])
    await ahead.idle()
    assert.deepEqual(done, ['read', 'searched'])
  })

  test('[ENR-9] tenants take turns, 200 of a mailbox wait, and what a poll has taken is not begun', async () => {
    const searched: string[] = []
    let release = (): void => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    const ahead = makeAhead(
      tools({
        recall: async ({ id }, query) => {
          searched.push(`${id} ${query.split(' ').at(-1)}`)
          await held
          return [RECALLED]
        },
      }),
    )
    for (const recipient of ['a1', 'b1'])
      ahead.polled({ tenantId: `ten_${recipient[0]}`, recipientId: recipient }, expected)
    ahead.deliveriesAdded(Array.from({ length: 250 }, (_, i) => delivery('a1', `a${i}`, `n${i}`)))
    ahead.deliveriesAdded([delivery('b1', 'b0', 'urgent'), delivery('b1', 'b1', 'taken')])
    assert.equal(await ahead.take('b1'), null)
    release()
    await ahead.idle()
    assert.deepEqual(searched.slice(0, 2).sort(), ['a1 n0', 'b1 urgent'])
    assert.equal(searched.filter((one) => one.startsWith('a1')).length, 200)
    assert.ok(!searched.includes('b1 taken'))
  })

  test('[ENR-9] at most 2,000 wait in all', async () => {
    let searches = 0
    const ahead = makeAhead(tools({ recall: async () => (searches++, [RECALLED]) }))
    for (let i = 0; i < 11; i++) {
      ahead.polled({ tenantId: 'ten_a', recipientId: `a${i}` }, expected)
      ahead.deliveriesAdded(Array.from({ length: 200 }, (_, n) => delivery(`a${i}`, `a${i}.${n}`, `n${i}.${n}`)))
    }
    await ahead.idle()
    assert.equal(searches, 2_000)
  })

  const found = async (given: Partial<AheadTools>, ...added: NewDelivery[]) => {
    const ahead = makeAhead(tools(given))
    ahead.polled({ tenantId: 'ten_a', recipientId: 'a1' }, expected)
    ahead.deliveriesAdded(added)
    await ahead.idle()
    return ahead
  }

  test('[ENR-7] what was found five minutes ago is used, and no longer after that', async () => {
    const time = { now: 0 }
    const clock = { elapsed: () => time.now } as AheadTools['clock']
    const ahead = await found({ clock }, delivery('a1', 'd1', 'hot'), delivery('a1', 'd2', 'cold'))
    time.now = 300_000
    assert.deepEqual((await ahead.take('d1'))?.recalled, [RECALLED])
    time.now++
    assert.equal(await ahead.take('d2'), null)
  })

  test('[ENR-7] what was found by words alone is not used: the poll searches again', async () => {
    const byWords = { ...RECALLED, signals: { ...RECALLED.signals, similarity: 0 } }
    for (const [all, used] of [
      [[byWords, byWords], null],
      [
        [byWords, RECALLED],
        [byWords, RECALLED],
      ],
      [[], []],
    ] as const) {
      const ahead = await found({ recall: async () => [...all] }, delivery('a1', 'd1', 'hot'))
      assert.deepEqual((await ahead.take('d1'))?.recalled, used)
    }
  })

  test('[ENR-8] events with the same content are searched for anew at another depth', async () => {
    const limits: unknown[] = []
    const recall: Recall = async (_viewer, _query, options) => (limits.push(options?.limit), [RECALLED])
    const ahead = await found({ recall }, delivery('a1', 'd1', 'hot'))
    ahead.deliveriesAdded([{ ...delivery('a1', 'd2', 'hot'), enrichment: 'full' }])
    await ahead.idle()
    assert.deepEqual(limits, [3, 8])
  })

  test('[ENR-9] a long event is not searched for ahead, and 8 MiB of short ones wait at most', async () => {
    const padded = (recipient: string, id: string, characters: number): NewDelivery => {
      const one = delivery(recipient, id, id)
      return { ...one, envelope: one.envelope + ' '.repeat(characters - one.envelope.length) }
    }
    let searches = 0
    const recall: Recall = async () => (searches++, [RECALLED])
    const short = 32_768
    const ahead = await found({ recall }, padded('a1', 'short', short), padded('a1', 'long', short + 1))
    assert.equal(searches, 1)
    ahead.polled({ tenantId: 'ten_a', recipientId: 'a2' }, expected)
    for (let round = 1; round <= 2; round++) {
      for (const recipient of ['a1', 'a2'])
        ahead.deliveriesAdded(
          Array.from({ length: 150 }, (_, i) => padded(recipient, `${recipient}.${round}.${i}`, short)),
        )
      await ahead.idle()
      assert.equal(searches, 1 + round * 256)
    }
  })
})
