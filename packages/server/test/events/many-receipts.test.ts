// The receipts of an event that has many recipients.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ALL_SCOPES, type Principal } from '../../src/auth/principal.ts'
import { insertDeliveries } from '../../src/delivery/insert-deliveries.ts'
import { acknowledgeRows } from '../../src/delivery/sql.ts'
import { readReceipts } from '../../src/events/receipts.ts'
import type { Db, Value } from '../../src/store/db.ts'
import { onBothEngines } from '../support/engines.ts'
import { startService, type Service, type TestTenant } from '../support/service.ts'
import { publish } from './tools.ts'

const ID = 'of-many'
const RECIPIENTS = 250

/** The number of a recipient or delivery, padded so that the order of the texts is the order of the numbers. */
const name = (kind: string, i: number): string => `${kind}_${String(i).padStart(4, '0')}`

interface ReceiptBody {
  delivery_id: string
  agent_id: string
  state: string
}

onBothEngines((engine) => {
  describe('many receipts', () => {
    let service: Service
    let tenant: TestTenant

    const acknowledge = (i: number) =>
      service.store.tx((tx) =>
        acknowledgeRows(tx, { tenantId: tenant.id, recipientId: name('agt', i) }, [name('dlv', i)], 5),
      )

    before(async () => {
      service = await startService(engine)
      tenant = await service.tenant()
      assert.equal((await publish(service, tenant.admin, { id: ID })).status, 202)
      const now = service.clock.now()
      await service.store.tx(async (tx) =>
        insertDeliveries(
          tx,
          Array.from({ length: RECIPIENTS }, (_, i) => ({
            tenant_id: tenant.id,
            recipient_id: name('agt', i),
            id: name('dlv', i),
            event_id: ID,
            priority: 0,
            enrichment: 'none',
            matched: i === 3 ? 'fed_a@chn_a int_b' : 'int_a',
            created_at: now,
          })),
        ),
      )
      for (const i of [0, 99, 100, 101, 249]) await acknowledge(i)
    })
    after(() => service.stop())

    test('[REC-3] [REC-9] each recipient is shown once, in their order, with its own state', async () => {
      const { status, body } = await service.call(`GET /v1/events/${ID}`, { token: tenant.admin })
      assert.equal(status, 200)
      assert.equal(body.event.id, ID)
      const shown = body.deliveries.map((r: ReceiptBody) => [r.agent_id, r.delivery_id, r.state])
      const expected = Array.from({ length: RECIPIENTS }, (_, i) => [
        name('agt', i),
        name('dlv', i),
        [0, 99, 100, 101, 249].includes(i) ? 'acknowledged' : 'pending',
      ])
      assert.deepEqual(shown, expected)
    })

    test('[REC-9] they are read a hundred at a time, as the response is taken', async () => {
      const read: number[] = []
      const db: Db = {
        ...service.store,
        async rows<Row>(sql: string, values?: readonly Value[]) {
          const rows = await service.store.rows<Row>(sql, values)
          read.push(rows.length)
          return rows
        },
      }
      const caller: Principal = {
        kind: 'org_admin',
        id: 'usr_x',
        tenantId: tenant.id,
        keyId: 'key_x',
        scopes: new Set(ALL_SCOPES),
        teamId: null,
      }
      const body = await readReceipts(db, caller, ID, service.clock.now(), async () => false)
      assert.ok('pieces' in body)
      assert.deepEqual(read, [1, 100], 'the event and the first page')
      let text = ''
      for await (const piece of body.pieces) {
        // While the response is written, one is acknowledged that was shown already, and one that is still to come.
        if (text === '') for (const i of [50, 150]) await acknowledge(i)
        text += piece
      }
      assert.deepEqual(read, [1, 100, 100, 50])
      const { deliveries } = JSON.parse(text)
      assert.deepEqual(
        deliveries.map((r: ReceiptBody) => r.agent_id),
        Array.from({ length: RECIPIENTS }, (_, i) => name('agt', i)),
      )
      assert.deepEqual([deliveries[50].state, deliveries[150].state], ['pending', 'acknowledged'])
      assert.deepEqual(deliveries[3].matched[0], { kind: 'feed', id: null }, 'a channel that the caller may not see')
    })
  })
})
