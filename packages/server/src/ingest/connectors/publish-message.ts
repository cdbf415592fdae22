// From a message to what becomes of it, for every kind of connector: stored, never an event, or not stored now.
import type { PreparedEvent } from '../../events/envelope.ts'
import type { Publish } from '../../events/publish.ts'
import { Failure } from '../../kernel/failure.ts'
import { StoreUnavailable } from '../../store/db.ts'

export type MessageOutcome =
  /** Its event is on disk. */
  | { kind: 'stored'; duplicate: boolean }
  /** It can never become an event: giving it back would bring it again, for ever. */
  | { kind: 'hopeless'; why: string }
  /** The store could not take it: it must come again. */
  | { kind: 'not_now'; why: string }

export interface MessageTarget {
  publish: Publish
  tenantId: string
  connectorId: string
  source: string
}

export async function publishMessage(
  { publish, tenantId, connectorId, source }: MessageTarget,
  read: () => PreparedEvent,
): Promise<MessageOutcome> {
  let event: PreparedEvent
  try {
    event = read()
  } catch (error) {
    // Reading is pure: whatever it throws, the same message would make it throw again.
    return { kind: 'hopeless', why: (error as Error).message }
  }
  try {
    // A CloudEvent brings its own id. One that belongs to another source would have that source's event, when it comes,
    // be taken for a duplicate.
    const isIngested = event.id.startsWith(`${source}:`)
    const [outcome] = await publish({ tenantId, senderId: connectorId, events: [event], isIngested })
    if (outcome!.status === 'refused') throw outcome!.failure
    return { kind: 'stored', duplicate: outcome!.status === 'duplicate' }
  } catch (error) {
    // A quota that is used up has room again tomorrow: the broker keeps the message until then.
    const isForNow =
      error instanceof Failure && (error.code === 'rate_limited' || error.details['rule'] === 'quota_exceeded')
    if (error instanceof Failure && error.status < 500 && !isForNow) return { kind: 'hopeless', why: error.message }
    const known = error instanceof StoreUnavailable || error instanceof Failure
    return {
      kind: 'not_now',
      why: known ? `the store could not take a message: ${error.message}` : 'a message could not be stored',
    }
  }
}
