// Publishes a message and returns its outcome, for every kind of connector: stored, never an event, or not stored now.
import type { PreparedEvent } from '../../events/envelope.ts'
import type { Publish } from '../../events/publish.ts'
import { Failure } from '../../kernel/failure.ts'
import { StoreUnavailable } from '../../store/db.ts'

type MessageOutcome =
  /** Its event is on disk. */
  | { kind: 'stored'; duplicate: boolean }
  /** The message can never become an event: if released, it would be redelivered for ever. */
  | { kind: 'invalid'; why: string }
  /** The store could not take the message: the broker must redeliver it. */
  | { kind: 'retry'; why: string }

interface MessageTarget {
  publish: Publish
  tenantId: string
  connectorId: string
  source: string
}

export async function publishMessage(
  { publish, tenantId, connectorId, source }: MessageTarget,
  read: () => Promise<PreparedEvent>,
): Promise<MessageOutcome> {
  let event: PreparedEvent
  try {
    event = await read()
  } catch (error) {
    // Reading is pure, so the same message would fail again with the same error.
    return { kind: 'invalid', why: (error as Error).message }
  }
  try {
    // A CloudEvent brings its own id. If that id belonged to another source, the other source's event would later be
    // taken for a duplicate.
    const isIngested = event.id.startsWith(`${source}:`)
    const [outcome] = await publish({ tenantId, senderId: connectorId, events: [event], isIngested })
    if (outcome!.status === 'refused') throw outcome!.failure
    return { kind: 'stored', duplicate: outcome!.status === 'duplicate' }
  } catch (error) {
    // A used-up quota has room again tomorrow: the broker keeps the message until then.
    const isForNow =
      error instanceof Failure && (error.code === 'rate_limited' || error.details['rule'] === 'quota_exceeded')
    if (error instanceof Failure && error.status < 500 && !isForNow) return { kind: 'invalid', why: error.message }
    const known = error instanceof StoreUnavailable || error instanceof Failure
    return {
      kind: 'retry',
      why: known ? `the store could not take a message: ${error.message}` : 'a message could not be stored',
    }
  }
}
