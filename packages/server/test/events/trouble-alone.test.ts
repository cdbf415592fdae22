// Requests that share a transaction: one that fails fails alone.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { makeAcknowledge } from '../../src/delivery/acknowledge-together.ts'
import { prepareEvent } from '../../src/events/envelope.ts'
import type { Submission } from '../../src/events/submission.ts'
import { makeMetrics } from '../../src/http/metrics.ts'
import { makeLogger } from '../../src/kernel/logger.ts'
import { makeParts, type Parts } from '../../src/parts.ts'
import { StoreUnavailable, type Store } from '../../src/store/db.ts'
import { togetherOrAlone } from '../../src/store/together.ts'
import { onBothEngines } from '../support/engines.ts'
import { agentForSuite, serviceForSuite, tenantForSuite } from '../support/service.ts'
import { ids, interest, poll, publish } from './tools.ts'

onBothEngines((engine) => {
  describe('one of a group fails', () => {
    const service = serviceForSuite(engine)
    const tenant = tenantForSuite(service)
    const agent = agentForSuite(tenant)
    let parts: Parts
    before(async () => {
      const { config, store, secrets, clock } = service
      parts = makeParts({ config, store, secrets, clock, log: makeLogger('silent'), metrics: makeMetrics() })
    })

    const statuses = (settled: PromiseSettledResult<unknown>[]) => settled.map(({ status }) => status)

    test('[RACE-11] a record that another node wrote first fails no other publish of its group', async () => {
      const lost = new Error('another node wrote it first')
      const submission = (id: string, record?: Submission['record']): Submission => {
        const envelope = { specversion: '1.0', type: 'com.test.group', source: '/test', id }
        const events = [prepareEvent(envelope, JSON.stringify(envelope))]
        return { tenantId: tenant.id, senderId: agent.id, events, ...(record ? { record } : {}) }
      }
      // Requested in one turn of the event loop, they form one group.
      const settled = await Promise.allSettled([
        parts.publish(submission('before')),
        parts.publish(submission('lost', () => Promise.reject(lost))),
        parts.publish(submission('after')),
      ])
      assert.deepEqual(statuses(settled), ['fulfilled', 'rejected', 'fulfilled'])
      assert.equal((settled[1] as PromiseRejectedResult).reason, lost)
      const stored = await service.store.rows<{ id: string }>('select id from events where tenant_id = ? order by id', [
        tenant.id,
      ])
      assert.deepEqual(
        stored.map(({ id }) => id),
        ['after', 'before'],
      )
    })

    test('[RACE-11] a group that the store failed is not carried out again one by one', async () => {
      const tries: (readonly string[])[] = []
      const unsure = new StoreUnavailable('the disk refused to write', { trouble: 'unsure' })
      const together = togetherOrAlone(['a', 'b'], async (items) => {
        tries.push(items)
        throw unsure
      })
      await assert.rejects(together, unsure)
      assert.deepEqual(tries, [['a', 'b']])
    })

    test('[RACE-11] a failing acknowledgement fails no other of its group', async () => {
      await interest(service, agent)
      for (let i = 0; i < 3; i++) await publish(service, agent.token)
      const delivered = ids(await poll(service, agent.token))
      const { store } = service
      const failing: Store = {
        ...store,
        tx: (work, options) =>
          store.tx(
            (tx) =>
              work({
                ...tx,
                move: async (move, given, where, values) => {
                  if (JSON.stringify(values).includes(delivered[1]!)) throw new Error('refused')
                  return tx.move(move, given, where, values)
                },
              }),
            options,
          ),
      }
      const acknowledge = makeAcknowledge(failing, parts, service.clock.now)
      const mailbox = { tenantId: tenant.id, recipientId: agent.id }
      const settled = await Promise.allSettled(delivered.map((id) => acknowledge(mailbox, [id])))
      assert.deepEqual(statuses(settled), ['fulfilled', 'rejected', 'fulfilled'])
    })
  })
})
