// Dead letters counted by what they have in common.
import type { DeadLetterSummary } from '@sensorium/contract'
import type { Db } from '../store/db.ts'
import { countDeadLetters } from './dead-letters.ts'
import type { DeadLetterScope } from './find-dead-letters.ts'
import { deadLetterPages } from './find-dead-letters.ts'

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

/** Equal counts stay in the order of the newest dead letter. Comparing 20,000 long reasons would take 100 ms. */
const largest = (counts: ReadonlyMap<string, number>): [string, number][] =>
  [...counts].sort(([, a], [, b]) => b - a).slice(0, LARGEST)

/** Counts page by page: the reasons of a page have up to a megabyte. */
export async function summarizeDeadLetters(db: Db, scope: DeadLetterScope): Promise<DeadLetterSummary> {
  const reasons = new Map<string, number>()
  const types = new Map<string, number>()
  const agents = new Map<string, number>()
  let grouped = 0
  for await (const letters of deadLetterPages(db, scope, {}, MAX_GROUPED)) {
    for (const { dlq_reason, type, recipient_id } of letters) {
      countOne(reasons, causeOf(dlq_reason))
      countOne(types, type)
      countOne(agents, recipient_id)
    }
    grouped += letters.length
  }
  return {
    total: grouped < MAX_GROUPED ? grouped : await countDeadLetters(db, scope),
    by_reason: largest(reasons).map(([reason, count]) => ({ reason, count })),
    by_event_type: largest(types).map(([event_type, count]) => ({ event_type, count })),
    by_agent: largest(agents).map(([agent_id, count]) => ({ agent_id, count })),
  }
}
