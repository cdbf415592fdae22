// What one request publishes, one event or a batch, and the outcome of each event.
import type { Failure } from '../kernel/failure.ts'
import type { Db } from '../store/db.ts'
import type { ToRoute } from './route-events.ts'

export type PublishOutcome =
  | { status: 'accepted'; eventId: string; recipients: number }
  | { status: 'duplicate'; eventId: string }
  | { status: 'refused'; failure: Failure }

export interface Submission extends ToRoute {
  /** Writes the record of the response, in the same transaction. */
  record?: (tx: Db, outcomes: PublishOutcome[]) => Promise<void>
}
