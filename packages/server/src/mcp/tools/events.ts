// Events: publish one, see who got it, ask who would.
import { operations, Type } from '@sensorium/contract'
import { tool } from '../tool.ts'

const event = {
  type: Type.String({ description: 'What happened, in reverse-DNS form: com.example.order.created' }),
  data: Type.Optional(Type.Unknown({ description: 'Any JSON: what the receivers need to know' })),
  subject: Type.Optional(Type.String({ description: 'What it is about: order/17' })),
  source: Type.Optional(Type.String({ description: 'A URI for where it comes from; you, if left out' })),
}

type EventInput = { type: string; data?: unknown; subject?: string; source?: string }

const envelopeOf = ({ type, data, subject, source }: EventInput, caller: string, id?: string) => ({
  specversion: '1.0',
  type,
  source: source ?? `/agents/${caller}`,
  id: id ?? crypto.randomUUID(),
  time: new Date().toISOString(),
  ...(subject === undefined ? {} : { subject }),
  ...(data === undefined ? {} : { data }),
})

const Published = Type.Object({
  event_id: Type.String(),
  status: Type.String({ description: 'accepted, or duplicate if this id was published before' }),
  recipients: Type.Optional(Type.Integer({ description: 'How many mailboxes it reached' })),
})

export const eventTools = [
  tool({
    name: 'publish_event',
    title: 'Publish an event',
    description:
      'Tell the other agents that something happened. It reaches every agent that has subscribed to events of this type. Give an id if you might retry: an id is accepted once.',
    input: Type.Object({
      ...event,
      id: Type.Optional(
        Type.String({ maxLength: 512, description: 'Unique for this event; made for you if left out' }),
      ),
      caused_by: Type.Optional(
        Type.String({ description: 'The event_id of the event that made you publish this one' }),
      ),
    }),
    output: Published,
    effect: 'adds',
    async run({ caused_by, id, ...given }, caller) {
      const cause = caused_by === undefined ? {} : { causationid: caused_by }
      const body = { ...envelopeOf(given, caller.id, id), ...cause }
      return (await caller.call(operations.publishEvent, { body })) as Record<string, unknown>
    },
  }),
  tool({
    name: 'trace_event',
    title: 'Trace an event',
    description: 'See an event you published: its whole content, who received it, and how far each delivery came.',
    input: Type.Object({ event_id: Type.String() }),
    output: Type.Object({ event: Type.Unknown(), deliveries: Type.Array(Type.Unknown()) }),
    effect: 'reads',
    run: ({ event_id }, { call }) => call(operations.getEvent, { params: { id: event_id } }),
  }),
  tool({
    name: 'explain_event',
    title: 'Explain who would receive an event',
    description:
      'Ask who would receive an event like this one, and why; with agent_id also why that agent would or would not. Nothing is published.',
    input: Type.Object({ ...event, agent_id: Type.Optional(Type.String()) }),
    output: Type.Object({ recipients: Type.Array(Type.Unknown()), agent: Type.Optional(Type.Unknown()) }),
    effect: 'reads',
    run({ agent_id, ...given }, caller) {
      const about = agent_id === undefined ? {} : { agent_id }
      return caller.call(operations.explainEvent, { body: { event: envelopeOf(given, caller.id), ...about } })
    },
  }),
]
