// Dead letters counted by what they have in common.
import { hash } from 'node:crypto'
import type { DeadLetterSummary } from '@sensorium/contract'
import type { Pause } from '../kernel/step-turns.ts'
import type { Db } from '../store/db.ts'
import { countDeadLetters } from './count-dead-letters.ts'
import type { DeadLetterScope } from './find-dead-letters.ts'
import { deadLetterPages } from './find-dead-letters.ts'
import { IS_DEAD } from './standing.ts'

/** If there are more dead letters than this, only the newest are grouped. */
const MAX_GROUPED = 20_000
const LARGEST = 20
/**
 * The reason as rules.ts writes it after the last attempt. It begins with one of three texts: a handler chooses its
 * reason freely, and with any text before "after" the search took quadratic time.
 */
const AFTER_ATTEMPTS =
  /^(Not acknowledged|Given back|Push failed) after \d{1,10} attempts? over \d{1,10} (?:s|min|h)(?:; last error: ([^]*))?$/

/** Returns the part of a reason that many share: the last error, or the reason without its numbers. */
export function causeOf(reason: string): string {
  const [, what, error] = AFTER_ATTEMPTS.exec(reason) ?? []
  return error ?? what ?? reason
}

const countOne = (counts: Map<string, number>, name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1)

/** Equal counts stay in the order of the newest dead letter. */
const largest = (counts: ReadonlyMap<string, number>): [string, number][] =>
  [...counts].sort(([, a], [, b]) => b - a).slice(0, LARGEST)

/** Returns the causes of these dead letters by their ids; one that is gone by now is missing. Locks nothing. */
async function causesOf(db: Db, { tenantId }: DeadLetterScope, ids: string[]): Promise<Map<string, string>> {
  const rows = await db.rows<{ id: string; dlq_reason: string }>(
    `select id, dlq_reason from deliveries where tenant_id = ? and ${db.dialect.inList('id')} and ${IS_DEAD}`,
    [tenantId, db.dialect.list(ids)],
  )
  return new Map(rows.map(({ id, dlq_reason }) => [id, causeOf(dlq_reason)]))
}

/**
 * Counts page by page. Causes are counted by their digests, and those of the largest counts are read again: 20,000
 * different ones would have 80 MB.
 */
export async function summarizeDeadLetters(db: Db, scope: DeadLetterScope, pause: Pause): Promise<DeadLetterSummary> {
  const causes = new Map<string, number>()
  /** A dead letter of each cause, the oldest: bulk operations begin with the newest. */
  const examples = new Map<string, string>()
  const types = new Map<string, number>()
  const agents = new Map<string, number>()
  let grouped = 0
  for await (const letters of deadLetterPages(db, scope, {}, { look: MAX_GROUPED, pause, withReasons: true })) {
    for (const { id, dlq_reason, type, recipient_id } of letters) {
      const digest = hash('sha256', causeOf(dlq_reason), 'base64')
      countOne(causes, digest)
      examples.set(digest, id)
      countOne(types, type)
      countOne(agents, recipient_id)
    }
    grouped += letters.length
  }
  const commonest = largest(causes).map(([digest, count]) => ({ id: examples.get(digest)!, count }))
  const causeOfId = await causesOf(
    db,
    scope,
    commonest.map(({ id }) => id),
  )
  return {
    total: grouped < MAX_GROUPED ? grouped : await countDeadLetters(db, scope, pause),
    by_reason: commonest.flatMap(({ id, count }) => {
      const reason = causeOfId.get(id)
      return reason === undefined ? [] : [{ reason, count }]
    }),
    by_event_type: largest(types).map(([event_type, count]) => ({ event_type, count })),
    by_agent: largest(agents).map(([agent_id, count]) => ({ agent_id, count })),
  }
}
