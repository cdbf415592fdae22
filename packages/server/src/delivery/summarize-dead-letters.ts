// Dead letters counted by what they have in common.
import type { DeadLetterSummary } from '@sensorium/contract'
import type { Db } from '../store/db.ts'
import { countDeadLetters, type DeadLetterScope } from './dead-letters.ts'
import { findDeadLetters } from './find-dead-letters.ts'

/** If there are more dead letters than this, only the newest are grouped. */
const MAX_GROUPED = 20_000
const LARGEST = 20
/** The reason as rules.ts writes it after the last attempt. */
const AFTER_ATTEMPTS = /^(.+?) after \d+ attempts? over [^;]*(?:; last error: ([^]*))?$/

/** Returns the part of a reason that many share: the last error, or the reason without its numbers. */
export function causeOf(reason: string): string {
  const [, what, error] = AFTER_ATTEMPTS.exec(reason) ?? []
  return error ?? what ?? reason
}

function largest(counts: ReadonlyMap<string, number>): [string, number][] {
  return [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).slice(0, LARGEST)
}

export async function summarizeDeadLetters(db: Db, scope: DeadLetterScope): Promise<DeadLetterSummary> {
  const letters = await findDeadLetters(db, scope, {}, MAX_GROUPED, MAX_GROUPED)
  const counted = (nameOf: (letter: (typeof letters)[number]) => string): [string, number][] => {
    const counts = new Map<string, number>()
    for (const letter of letters) counts.set(nameOf(letter), (counts.get(nameOf(letter)) ?? 0) + 1)
    return largest(counts)
  }
  return {
    total: letters.length < MAX_GROUPED ? letters.length : await countDeadLetters(db, scope),
    by_reason: counted(({ dlq_reason }) => causeOf(dlq_reason)).map(([reason, count]) => ({ reason, count })),
    by_event_type: counted(({ type }) => type).map(([event_type, count]) => ({ event_type, count })),
    by_agent: counted(({ recipient_id }) => recipient_id).map(([agent_id, count]) => ({ agent_id, count })),
  }
}
