// Enrichment of many concurrent polls leaves turns of the event loop to other requests.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeEnrich } from '../../src/enrichment/enrich.ts'
import { makeLogger } from '../../src/kernel/logger.ts'
import { makeStepTurns, type StepTurns } from '../../src/kernel/step-turns.ts'
import type { Recalled } from '../../src/memory/index/memory-index.ts'
import type { Recall } from '../../src/memory/recall.ts'
import type { Store, Value } from '../../src/store/db.ts'
import { interest, publish } from '../events/tools.ts'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite } from '../support/service.ts'
import { NOT_AHEAD } from './not-ahead.ts'

const POLLS = 10
const DELIVERIES = 20

const RECALLED: Omit<Recalled, 'id'> = {
  score: 0.5,
  signals: { similarity: 0.6, lexical: 0.2, confidence: 1, recency: 1, importance: 0.5 },
}

/** The length of a list of ids, as it is bound to a statement. */
const lengthOf = (list: Value): number => (typeof list === 'string' ? JSON.parse(list) : (list as string[])).length

onBothEngines((engine) => {
  const service = serviceForSuite(engine)

  test('[ENR-10] of many polls one search is begun and one full block made per turn, by tenants in turn', async () => {
    const [loud, quiet] = [await service.tenant(), await service.tenant()]
    const polls: { tenantId: string; recipientId: string; eventId: string }[] = []
    for (let i = 0; i <= POLLS; i++) {
      const tenant = i < POLLS ? loud : quiet
      const agent = await tenant.agent()
      await interest(service, agent)
      const { event_id } = (await publish(service, agent.token, { subject: 'thing/1', data: 'note' })).body
      polls.push({ tenantId: tenant.id, recipientId: agent.id, eventId: event_id })
    }
    const noted = { searches: 0, earlier: 0 }
    const most = { ...noted }
    let searches = 0
    let mostRead = 0
    const store: Store = {
      ...service.store,
      rows<R>(sql: string, values?: readonly Value[]) {
        if (sql.includes('as page')) noted.earlier++
        if (sql.includes('select m.id, m.title')) mostRead = Math.max(mostRead, lengthOf(values!.at(-1)!))
        return service.store.rows<R>(sql, values)
      },
    }
    const recall: Recall = async () => {
      noted.searches++
      searches++
      return Array.from({ length: 30 }, (_, i) => ({ ...RECALLED, id: `mem_${searches}.${i}` }))
    }
    const turns = makeStepTurns()
    let quietWaits = 0
    /** Steps of the loud tenant since the quiet one began to wait for its next. */
    let before = 0
    let mostBefore = 0
    const steps: StepTurns = {
      async take(tenantId, sender) {
        if (tenantId === quiet.id && quietWaits++ === 0) before = 0
        await turns.take(tenantId, sender)
        if (tenantId !== quiet.id) return void before++
        quietWaits--
        mostBefore = Math.max(mostBefore, before)
        before = 0
      },
    }
    const tools = { store, recall, clock: service.clock, log: makeLogger('silent'), steps, ahead: NOT_AHEAD }
    const enrich = makeEnrich(tools)
    let isDone = false
    const enriched = Promise.all(
      polls.map(({ eventId, ...mailbox }) =>
        enrich(
          mailbox,
          Array.from({ length: DELIVERIES }, (_, i) => ({
            id: `dlv_${i}`,
            eventId,
            depth: 'full' as const,
            envelope: JSON.stringify({ type: 'a.b', data: `note ${i}` }),
          })),
        ),
      ),
    ).finally(() => (isDone = true))
    while (!isDone) {
      await new Promise(setImmediate)
      most.searches = Math.max(most.searches, noted.searches)
      most.earlier = Math.max(most.earlier, noted.earlier)
      noted.searches = noted.earlier = 0
    }
    assert.deepEqual(
      (await enriched).map(({ size }) => size),
      polls.map(() => DELIVERIES),
    )
    assert.equal(searches, polls.length * DELIVERIES)
    assert.deepEqual(most, { searches: 1, earlier: 1 })
    assert.equal(mostBefore, 1)
    assert.equal(mostRead, 25)
  })

  test('[ENR-15] the blocks of a poll are kept 25 in a transaction, in the turn of its own tenant', async () => {
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    await interest(service, agent)
    const { event_id: eventId } = (await publish(service, agent.token, { data: 'note' })).body
    const kept: number[] = []
    const callers = new Set<string | undefined>()
    const store: Store = {
      ...service.store,
      tx(work, options) {
        callers.add(options?.caller?.tenantId)
        const at = kept.push(0) - 1
        return service.store.tx(
          (tx) => work({ ...tx, runLater: (sql, values) => (kept[at]!++, tx.runLater(sql, values)) }),
          options,
        )
      },
    }
    const recall: Recall = async () => []
    const enrich = makeEnrich({
      store,
      recall,
      clock: service.clock,
      log: makeLogger('silent'),
      steps: makeStepTurns(),
      ahead: NOT_AHEAD,
    })
    const deliveries = Array.from({ length: 60 }, (_, i) => ({
      id: `dlv_${i}`,
      eventId,
      depth: 'light' as const,
      envelope: JSON.stringify({ type: 'a.b', data: `note ${i}` }),
    }))
    const blocks = await enrich({ tenantId: tenant.id, recipientId: agent.id }, deliveries)
    assert.equal(blocks.size, 60)
    assert.deepEqual(kept, [25, 25, 10])
    assert.deepEqual([...callers], [tenant.id])
  })
})
