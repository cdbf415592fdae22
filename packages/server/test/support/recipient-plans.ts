// Whether a statement on SQLite stays with the recipient that it names. SQLite gathers no statistics: given an index of
// the tenant and one of the recipient, or a key that has the order that is asked for, it may read all deliveries of the
// tenant. A small tenant does not show that, so the plan is looked at.
import { DatabaseSync } from 'node:sqlite'
import { plannedOnce } from '../../src/store/sqlite-statements.ts'

/** A store with the current schema, of which the runner has gathered no statistics. */
const MIGRATED = process.env['TEST_SQLITE_MIGRATED']

/** A comparison such as `recipient_id = ?`. Deliveries that are named by their ids compare an expression instead. */
const NAMES_RECIPIENT = /\brecipient_id = /
const READS_DELIVERIES =
  /^SCAN (d|deliveries|acknowledged_deliveries)\b|^SEARCH \w+ .*USING (PRIMARY KEY|(COVERING )?INDEX (acknowledged_)?deliveries_)/
const IS_BOUND = /\b(recipient_id|event_id|id)=\?/

/** The statements that were looked at in this process. */
const lookedAt = new Set<string>()

/** Returns the steps of the plan that read deliveries of other recipients too; null if there are none. */
export function whyNotOfRecipient(db: DatabaseSync, sql: string): string | null {
  if (!NAMES_RECIPIENT.test(sql)) return null
  const steps = db.prepare(`explain query plan ${plannedOnce(sql)}`).all() as unknown as { detail: string }[]
  const wide = steps.map(({ detail }) => detail).filter((step) => READS_DELIVERIES.test(step) && !IS_BOUND.test(step))
  return wide.length === 0 ? null : wide.join(', ')
}

/** Returns those of the statements that read deliveries of other recipients than the one they name, with the reason. */
export function statementsOverRecipients(statements: readonly string[]): string[] {
  const fresh = statements.filter((sql) => NAMES_RECIPIENT.test(sql) && !lookedAt.has(sql))
  if (!MIGRATED || fresh.length === 0) return []
  const db = new DatabaseSync(MIGRATED, { readOnly: true })
  try {
    return fresh.flatMap((sql) => {
      lookedAt.add(sql)
      const why = whyNotOfRecipient(db, sql)
      return why === null ? [] : [`${why}: ${sql.replace(/\s+/g, ' ')}`]
    })
  } finally {
    db.close()
  }
}
