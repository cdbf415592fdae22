// /events: publish, trace, explain; and the test event of an agent.
import type { Activity } from '../activity/activity.ts'
import type { EventTypes } from '../activity/event-types.ts'
import { listTypes } from '../events/list-types.ts'
import { writeLapsed } from '../delivery/lapse.ts'
import type { Wakeups } from '../delivery/wake.ts'
import type { PolicyOf } from '../delivery/policy.ts'
import { operations } from '@sensorium/contract'
import { prepareEvent, refuseServiceAttributes, type PreparedEvent } from '../events/envelope.ts'
import { explainEvent } from '../events/explain.ts'
import type { Publish } from '../events/publish.ts'
import type { PublishOutcome } from '../events/submission.ts'
import { readReceipts } from '../events/receipts.ts'
import { searchEvents } from '../events/search.ts'
import { sendTestEvent } from '../events/test-event.ts'
import type { Principal } from '../auth/principal.ts'
import { envelopeOf } from '../kernel/error-envelope.ts'
import { Failure, tooLarge } from '../kernel/failure.ts'
import { textSteps } from '../kernel/json-write.ts'
import { inSteps, makeStepTurns, nextTurn } from '../kernel/step-turns.ts'
import type { Router } from '../routing/router.ts'
import type { Store } from '../store/db.ts'
import { ok, refused, type OperationResponse } from './response.ts'
import { browse, own, read, type Binding } from './binding.ts'
import { goneOf, type Call } from './call.ts'
import type { RecordResponse } from './write-record.ts'
import { pauseOf } from './pause-of.ts'

interface EventOperationTools {
  store: Store
  publish: Publish
  router: Router
  wakeups: Wakeups
  now(): number
  policyOf: PolicyOf
  activity: Activity
  eventTypes: EventTypes
  retainedSince(tenantId: string): number
  maxEventBytes: number
  maySeeChannel(principal: Principal, channelId: string): Promise<boolean>
}

const shown = (outcome: Exclude<PublishOutcome, { status: 'refused' }>): object =>
  outcome.status === 'accepted'
    ? { event_id: outcome.eventId, status: 'accepted', recipients: outcome.recipients }
    : { event_id: outcome.eventId, status: 'duplicate' }

export function responseTo(outcome: PublishOutcome): OperationResponse {
  if (outcome.status === 'refused') return refused(outcome.failure)
  return { status: outcome.status === 'accepted' ? 202 : 200, json: shown(outcome), resourceId: outcome.eventId }
}

/** What is published: an event, or a batch in which an invalid event is replaced by a Failure. */
type Publishable = PreparedEvent | readonly (PreparedEvent | Failure)[]

const isBatch = (given: Publishable): given is readonly (PreparedEvent | Failure)[] => Array.isArray(given)

type Publishing = Call<typeof operations.publishEvent>

/** Prepares an envelope that a caller in the same process passes as a value. */
async function publishable(envelope: unknown, maxBytes: number): Promise<Publishable> {
  const text = await inSteps(textSteps(envelope), nextTurn)
  const bytes = Buffer.byteLength(text)
  if (bytes > maxBytes) throw tooLarge(bytes, maxBytes)
  return refuseServiceAttributes(prepareEvent(envelope, text))
}

async function publishOne(
  publish: Publish,
  { principal, options }: Publishing,
  event: PreparedEvent,
  record: RecordResponse | null,
): Promise<OperationResponse> {
  const [outcome] = await publish({
    tenantId: principal.tenantId,
    senderId: principal.id,
    events: [event],
    isClientGone: goneOf(options),
    ...(record ? { record: (tx, outcomes) => record(tx, responseTo(outcomes[0]!)) } : {}),
  })
  return responseTo(outcome!)
}

async function publishBatch(
  publish: Publish,
  { principal, options }: Publishing,
  batch: readonly (PreparedEvent | Failure)[],
  record: RecordResponse | null,
): Promise<OperationResponse> {
  const events = batch.filter((item): item is PreparedEvent => !(item instanceof Failure))
  const respond = (outcomes: readonly PublishOutcome[]): OperationResponse => {
    const left = [...outcomes]
    const results = batch.map((item) => {
      const outcome: PublishOutcome = item instanceof Failure ? { status: 'refused', failure: item } : left.shift()!
      return outcome.status === 'refused' ? envelopeOf(outcome.failure, options.requestId ?? '') : shown(outcome)
    })
    return ok({ results })
  }
  if (events.length === 0) return respond([])
  const outcomes = await publish({
    tenantId: principal.tenantId,
    senderId: principal.id,
    events,
    isClientGone: goneOf(options),
    ...(record ? { record: (tx, made) => record(tx, respond(made)) } : {}),
  })
  return respond(outcomes)
}

export function eventOperations(tools: EventOperationTools): Binding[] {
  const { store, publish, router, now, eventTypes, retainedSince, maxEventBytes, maySeeChannel } = tools
  const turns = makeStepTurns()

  /** Says which channels a caller may see. Within one call a channel is asked for once. */
  function seenBy(principal: Principal): (channelId: string) => Promise<boolean> {
    const asked = new Map<string, Promise<boolean>>()
    return (channelId) => {
      const answer = asked.get(channelId) ?? maySeeChannel(principal, channelId)
      asked.set(channelId, answer)
      return answer
    }
  }

  return [
    own(
      operations.publishEvent,
      (call, record) => {
        const given = call.body as unknown as Publishable
        return isBatch(given) ? publishBatch(publish, call, given, record) : publishOne(publish, call, given, record)
      },
      (envelope) => publishable(envelope, maxEventBytes) as never,
    ),

    read(operations.listEventTypes, async (call, db) => {
      await eventTypes.flush()
      const { tenantId } = call.principal
      return ok(await listTypes(db, router, tenantId, call.query, retainedSince(tenantId), pauseOf(turns, call)))
    }),

    browse(operations.listEvents, async (call, db) =>
      ok(await searchEvents(db, call.principal.tenantId, call.query, pauseOf(turns, call))),
    ),

    read(operations.getEvent, async ({ principal, params }, db) => {
      const at = now()
      await writeLapsed(tools, principal.tenantId, at)
      return { status: 200, ...(await readReceipts(db, principal, params.id, at, seenBy(principal))) }
    }),

    read(operations.explainEvent, async (call, db) => {
      const { principal, body } = call
      const explained = await explainEvent(db, router, principal, body, seenBy(principal), pauseOf(turns, call))
      return { ...ok(explained), changesNothing: true }
    }),

    own(operations.sendTestEvent, async ({ principal, params, options }, record) => {
      const respond = (outcome: PublishOutcome): OperationResponse =>
        outcome.status === 'refused'
          ? refused(outcome.failure)
          : { status: 202, json: { event_id: outcome.eventId }, resourceId: outcome.eventId }
      return respond(
        await sendTestEvent(store, publish, principal, params.id, now(), {
          isClientGone: goneOf(options),
          ...(record ? { record: (tx, [outcome]) => record(tx, respond(outcome!)) } : {}),
        }),
      )
    }),
  ]
}
