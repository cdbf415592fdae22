// What a stream has to look up because no wake-up tells it: the state of its leases, and whether something is due.
import type { Logger } from '../kernel/logger.ts'
import type { Store } from '../store/db.ts'
import { dueAmong, readLeases } from './sql.ts'
import type { Stream } from './stream.ts'

const MAILBOXES_AT_ONCE = 500

/** Reads the state of a stream's leases: some may have been acknowledged elsewhere, extended or lapsed. */
export async function lookAtLeases(store: Store, stream: Stream, now: () => number, log: Logger): Promise<void> {
  const { tenantId, recipientId } = stream.mailbox
  try {
    const held = stream.held()
    const ids = held.map(({ id }) => id)
    stream.refresh(held, await readLeases(store, tenantId, recipientId, ids), now())
  } catch (error) {
    log.debug({ err: error }, 'a stream will look again')
  }
}

/** Pumps the streams whose mailboxes have something due. */
export async function pumpDue(store: Store, streams: readonly Stream[], now: () => number, log: Logger): Promise<void> {
  try {
    for (const [tenantId, ofTenant] of Map.groupBy(streams, ({ mailbox }) => mailbox.tenantId)) {
      for (let i = 0; i < ofTenant.length; i += MAILBOXES_AT_ONCE) {
        const some = ofTenant.slice(i, i + MAILBOXES_AT_ONCE)
        const recipients = [...new Set(some.map(({ mailbox }) => mailbox.recipientId))]
        const rows = await dueAmong(store, tenantId, recipients, now())
        const due = new Set(rows.map((row) => row.recipient_id))
        for (const stream of some) if (due.has(stream.mailbox.recipientId)) stream.pump()
      }
    }
  } catch (error) {
    log.debug({ err: error }, 'streams will look again')
  }
}
