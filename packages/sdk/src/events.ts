// Publishing, receipts, and who would receive an event.
import type { Event, EventList, EventTypeList, ExplainRequest, Explanation, Operations, Published } from './contract.ts'
import type { ErrorBody } from './errors.ts'
import { given } from './given.ts'
import type { Call, CallOptions } from './request.ts'
import { orAborted } from './wait.ts'

/** An event as a caller gives it: what can be filled in may be left out. */
export type NewEvent = Pick<Event, 'type'> & Partial<Event> & { [extension: string]: unknown }

/** Attributes that every event of a client carries, unless it has its own. */
export type EventDefaults = Readonly<Partial<Pick<Event, 'source'>> & { causationid?: string; traceparent?: string }>

export interface EventCalls {
  /** Publishes one event. The id is made where it is left out; a retry keeps it. */
  publish(event: NewEvent, options?: CallOptions): Promise<Published>
  /** Publishes up to 100 events in one call; each stands or falls alone, and the results are in their order. */
  publishBatch(events: readonly NewEvent[], options?: CallOptions): Promise<(Published | { error: ErrorBody })[]>
  /**
   * Publishes a reply: addressed to the `replyto` of the question, with its `correlationid`, or its id if it has none.
   */
  reply(question: Event, event: NewEvent, options?: CallOptions): Promise<Published>
  /** Searches the events of the tenant, newest first. For an org-admin. */
  list(query?: Operations['listEvents']['query'], options?: CallOptions): Promise<EventList>
  /** The types of events that the tenant has, and how many listen to each. */
  types(query?: Operations['listEventTypes']['query'], options?: CallOptions): Promise<EventTypeList>
  /** The event and, for each recipient, how far its delivery came. */
  get(id: string, options?: CallOptions): Promise<Operations['getEvent']['response']>
  /** Who would receive it, and why; stores nothing. */
  explain(event: NewEvent, agentId?: string, options?: CallOptions): Promise<Explanation>
}

/** The envelope as it goes out. `source` is the agent itself where nothing else is said. */
export function envelopeOf(event: NewEvent, defaults: EventDefaults, agentId: string | undefined): Event {
  return {
    specversion: '1.0',
    id: crypto.randomUUID(),
    source: agentId === undefined ? '/client' : `/agents/${agentId}`,
    time: new Date().toISOString(),
    ...given(defaults),
    ...given(event),
  }
}

export function eventCalls(
  call: Call,
  defaults: EventDefaults,
  agentId: () => Promise<string | undefined>,
): EventCalls {
  const envelope = async (event: NewEvent, options?: CallOptions): Promise<Event> =>
    envelopeOf(
      event,
      defaults,
      (event.source ?? defaults.source) ? undefined : await orAborted(agentId(), options?.signal),
    )
  const publish: EventCalls['publish'] = async (event, options) =>
    (await call('publishEvent', { body: await envelope(event, options) }, options)) as Published
  return {
    publish,
    async reply(question, event, options) {
      if (!question.replyto) throw new TypeError('the event asks for no reply: it has no replyto')
      const correlationid = question.correlationid ?? question.id
      return publish({ recipient: question.replyto, correlationid, causationid: question.id, ...event }, options)
    },
    async publishBatch(events, options) {
      // The contract shows the body of one; a batch is a list of them under a media type of its own.
      const body = (await Promise.all(events.map((event) => envelope(event, options)))) as unknown as Event
      const headers = { ...options?.headers, 'content-type': 'application/cloudevents-batch+json' }
      const { results } = (await call('publishEvent', { body }, { ...options, headers })) as { results: unknown[] }
      return results as (Published | { error: ErrorBody })[]
    },
    list: (query = {}, options) => call('listEvents', { query }, options),
    types: (query = {}, options) => call('listEventTypes', { query }, options),
    get: (id, options) => call('getEvent', { params: { id } }, options),
    async explain(event, agentId, options) {
      const body: ExplainRequest = {
        event: await envelope(event, options),
        ...(agentId === undefined ? {} : { agent_id: agentId }),
      }
      return call('explainEvent', { body }, options)
    },
  }
}
