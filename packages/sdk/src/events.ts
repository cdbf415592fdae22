// Publishing events, following their deliveries, and explaining who would receive an event.
import type { Event, EventList, EventTypeList, ExplainRequest, Explanation, Operations, Published } from './contract.ts'
import type { ErrorBody } from './errors.ts'
import { withoutUndefined, type Optional } from './given.ts'
import type { Call, CallOptions } from './request.ts'
import { orAborted } from './wait.ts'

/** An event to publish. Attributes that the client can fill in may be left out. */
export type NewEvent = Pick<Event, 'type'> & Optional<Event> & { [extension: string]: unknown } & Misspelt

/** Attributes as other APIs spell them. CloudEvents has lower-case names alone, so these would be other attributes. */
type Misspelt = { [name in 'replyTo' | 'correlationId' | 'causationId' | 'dataContentType' | 'traceParent']?: never }

/** Attributes that every event of a client carries, unless the event sets its own. */
export type EventDefaults = Readonly<Optional<Pick<Event, 'source'> & { causationid: string; traceparent: string }>>

export interface EventCalls {
  /**
   * Publishes one event. An id is generated if it is left out, and kept by retries. With an `idempotencyKey` the call
   * can be repeated later, with the same event: the id is derived from both, and `time` is not filled in.
   */
  publish(event: NewEvent, options?: CallOptions): Promise<Published>
  /** Publishes up to 100 events in one call. Each succeeds or fails on its own; the results are in the same order. */
  publishBatch(events: readonly NewEvent[], options?: CallOptions): Promise<(Published | { error: ErrorBody })[]>
  /**
   * Publishes a reply: addressed to the `replyto` of the question, with its `correlationid`, or its id if it has none.
   */
  reply(question: Event, event: NewEvent, options?: CallOptions): Promise<Published>
  /** Searches the events of the tenant, newest first. For an org-admin. */
  list(query?: Operations['listEvents']['query'], options?: CallOptions): Promise<EventList>
  /** Lists the event types of the tenant, with the number of listeners of each. */
  types(query?: Operations['listEventTypes']['query'], options?: CallOptions): Promise<EventTypeList>
  /** Returns the event and the progress of its delivery to each recipient. */
  get(id: string, options?: CallOptions): Promise<Operations['getEvent']['response']>
  /** Explains who would receive the event, and why. Stores nothing. */
  explain(event: NewEvent, agentId?: string, options?: CallOptions): Promise<Explanation>
}

/** Returns a text of 64 characters that depends on the value alone. */
async function digestOf(value: unknown): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(JSON.stringify(value)))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/**
 * Returns the envelope to send. `source` defaults to the agent itself. With an idempotency key, the service refuses a
 * second call that differs from the first: so the id is derived from the key and the event, and no time is added. The
 * key alone does not suffice. Another sender may use the same, and so may a batch for several events.
 */
async function envelopeOf(
  event: NewEvent,
  defaults: EventDefaults,
  agentId: string | undefined,
  key: readonly unknown[] | null,
): Promise<Event> {
  const envelope = {
    specversion: '1.0' as const,
    source: agentId === undefined ? '/client' : `/agents/${agentId}`,
    ...(key ? {} : { time: new Date().toISOString() }),
    ...withoutUndefined(defaults),
    ...withoutUndefined(event),
  }
  return { ...envelope, id: envelope.id ?? (key ? await digestOf([...key, envelope]) : crypto.randomUUID()) }
}

export function eventCalls(
  call: Call,
  defaults: EventDefaults,
  agentId: () => Promise<string | undefined>,
): EventCalls {
  const envelope = async (event: NewEvent, options?: CallOptions, place = 0): Promise<Event> =>
    envelopeOf(
      event,
      defaults,
      (event.source ?? defaults.source) ? undefined : await orAborted(agentId(), options?.signal),
      options?.idempotencyKey === undefined ? null : [options.idempotencyKey, place],
    )
  const publish: EventCalls['publish'] = async (event, options) =>
    (await call('publishEvent', { body: await envelope(event, options) }, options)) as Published
  return {
    publish,
    async reply(question, event, options) {
      if (!question.replyto) throw new TypeError('the event has no replyto')
      const correlationid = question.correlationid ?? question.id
      return publish(
        { recipient: question.replyto, correlationid, causationid: question.id, ...withoutUndefined(event) },
        options,
      )
    },
    async publishBatch(events, options) {
      // The contract has the body of one event; a batch is a list of them with a media type of its own.
      const body = (await Promise.all(
        events.map((event, place) => envelope(event, options, place)),
      )) as unknown as Event
      const headers = { ...options?.headers, 'content-type': 'application/cloudevents-batch+json' }
      const { results } = (await call('publishEvent', { body }, { ...options, headers })) as { results: unknown[] }
      return results as (Published | { error: ErrorBody })[]
    },
    list: (query = {}, options) => call('listEvents', { query }, options),
    types: (query = {}, options) => call('listEventTypes', { query }, options),
    get: (id, options) => call('getEvent', { params: { id } }, options),
    async explain(event, agentId, options) {
      const body: ExplainRequest = { event: await envelope(event, options), agent_id: agentId }
      return call('explainEvent', { body }, options)
    },
  }
}
