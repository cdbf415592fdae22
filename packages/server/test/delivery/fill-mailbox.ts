// Puts deliveries of every standing into a mailbox, without publishing thousands of events.
import type { Mailbox } from '../../src/delivery/sql.ts'
import type { StandingRow } from '../../src/delivery/standing.ts'
import type { Store, Value } from '../../src/store/db.ts'

export interface FilledRow extends StandingRow {
  id: string
  priority: number
  created_at: number
  dlq_reason?: string
}

/** Replaces all deliveries of the tenant. The events are e0, e1 …; a dead letter is dead since it was created. */
export const fillMailbox = (store: Store, { tenantId, recipientId }: Mailbox, rows: readonly FilledRow[]) =>
  store.tx(async (tx) => {
    await tx.run('delete from deliveries where tenant_id = ?', [tenantId])
    await tx.insertMany(
      {
        into: 'deliveries',
        columns: {
          tenant_id: 'text',
          recipient_id: 'text',
          id: 'text',
          event_id: 'text',
          enrichment: 'text',
          matched: 'text',
          state: 'text',
          priority: 'bigint',
          due_at: 'bigint',
          wake_at: 'bigint',
          dead_lettered_at: 'bigint',
          dlq_reason: 'text',
          created_at: 'bigint',
        },
      },
      rows.map(({ id, state, priority, due_at, wake_at, created_at, dlq_reason = null }, i): Value[] => {
        const dead = state === 'dead_lettered' ? created_at : null
        const row = [tenantId, recipientId, id, `e${i}`, 'none', '', state, priority, due_at, wake_at]
        return [...row, dead, dlq_reason, created_at]
      }),
    )
  })
