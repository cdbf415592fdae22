// The rows of dead letters that are replayed or discarded.
import type { Db } from '../store/db.ts'
import { IS_DEAD } from './standing.ts'

/** A dead letter with what is needed to route it again. */
export interface LockedDeadLetter {
  id: string
  recipient_id: string
  event_id: string
  matched: string
}

/** Returns those of the given deliveries that are dead letters, locked until the transaction ends. */
export const lockDeadLetters = (tx: Db, tenantId: string, ids: string[]) =>
  tx.rows<LockedDeadLetter>(
    `select id, recipient_id, event_id, matched from deliveries
      where tenant_id = ? and ${tx.dialect.inList('id')} and ${IS_DEAD} order by id ${tx.dialect.forUpdate}`,
    [tenantId, tx.dialect.list(ids)],
  )

/** The priority, enrichment and matches that today's routing gives a dead letter. */
export interface CurrentRouting {
  priority: number
  enrichment: string
  matched: string
}

// Due at once, no attempt yet.
const REVIVED = `state = 'ready', attempts = 0, due_at = null, wake_at = null, first_attempt_at = null, last_error = null, dead_lettered_at = null,
            dlq_reason = null, enriched = null, priority = coalesce(?, priority), enrichment = coalesce(?, enrichment), matched = coalesce(?, matched)`

/** Starts dead letters over, each with the values that apply to it today; null keeps its old ones. */
export async function revive(
  tx: Db,
  tenantId: string,
  letters: readonly (readonly [LockedDeadLetter, CurrentRouting | null])[],
): Promise<void> {
  const alike = Map.groupBy(letters, ([, current]) => JSON.stringify(current))
  for (const group of alike.values()) {
    const current = group[0]![1]
    await tx.run(`update deliveries set ${REVIVED} where tenant_id = ? and ${tx.dialect.inList('id')} and ${IS_DEAD}`, [
      current?.priority ?? null,
      current?.enrichment ?? null,
      current?.matched ?? null,
      tenantId,
      tx.dialect.list(group.map(([{ id }]) => id)),
    ])
  }
}

/** Deletes those of the given deliveries that are dead letters. Returns how many. */
export const deleteDeadLetters = (tx: Db, tenantId: string, ids: string[]) =>
  tx.run(`delete from deliveries where tenant_id = ? and ${tx.dialect.inList('id')} and ${IS_DEAD}`, [
    tenantId,
    tx.dialect.list(ids),
  ])
