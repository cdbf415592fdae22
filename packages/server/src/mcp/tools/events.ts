// Events: publish one, see who received it, ask who would.
import { isId, operations, POSTED_TYPE, Type } from '@sensorium/contract'
import { notFound } from '../../kernel/failure.ts'
import { agentOnly } from '../agent-only.ts'
import { hinted } from '../refusal.ts'
import { argument, idArgument, tool, type ToolCaller } from '../tool.ts'

const event = {
  type: argument('com.example.order.created', { description: 'What happened, in reverse-DNS form' }),
  data: Type.Optional(
    Type.Unknown({
      description:
        'What the recipients need to know: an object, not a string that contains JSON, so that filters can read it',
    }),
  ),
  subject: Type.Optional(argument('order/17', { description: 'What the event is about' })),
  source: Type.Optional(
    argument('/plant/north', { description: 'A URI that says where the event comes from; defaults to you' }),
  ),
  recipient: Type.Optional(
    idArgument(
      'agt',
      'The id of an agent, or of a channel that you are a member of, that receives the event in addition to its subscribers. To reply to an event, put its reply_to here.',
    ),
  ),
}

/** Fields that identify an event for retries, or relate it to other events. */
const relations = {
  id: Type.Optional(
    argument('order-17-created', {
      maxLength: 512,
      description: 'A unique id for this event; generated if left out',
    }),
  ),
  caused_by: Type.Optional(
    argument('order-16-paid', { description: 'The event_id of the event that made you publish this one' }),
  ),
  reply_to: Type.Optional(
    idArgument('agt', 'If you ask for a reply: "me", or the id of another agent or channel that it should go to'),
  ),
  correlation_id: Type.Optional(
    argument('question-1', {
      description: 'In a reply: the correlation_id of the question, or its event_id if it has none',
    }),
  ),
}

interface EventInput {
  type: string
  data?: unknown
  subject?: string
  source?: string
  recipient?: string
  id?: string
  caused_by?: string
  reply_to?: string
  correlation_id?: string
}

/** What to do about a refusal, by its rule or by what was not found. */
const RECIPIENT = 'recipient is an id from list_agents or list_channels'
const HINTS = {
  agent: RECIPIENT,
  channel: RECIPIENT,
  not_a_member: 'join_channel makes you a member of an open channel',
}

const CHANNEL = 'channel_id is an id from list_channels'

const OWN_EVENTS = 'you can trace the events that you published, not those that you received'
/** To an org-admin, who can trace whatever the tenant has. */
const ANY_EVENT = 'event_id is the id that publish_event returned, and events are not kept forever'

const NO_REPLIES = 'An org-admin receives no replies; use the key of an agent, or name one in reply_to'

function envelopeOf(given: EventInput, caller: string): Record<string, unknown> {
  const { type, source, id, caused_by, reply_to, correlation_id, ...others } = given
  const named = {
    causationid: caused_by,
    replyto: reply_to === 'me' ? agentOnly(caller, NO_REPLIES) : reply_to,
    correlationid: correlation_id,
    ...others,
  }
  return {
    specversion: '1.0',
    type,
    source: source ?? `/agents/${caller}`,
    id: id ?? crypto.randomUUID(),
    time: new Date().toISOString(),
    ...Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined)),
  }
}

const Published = Type.Object({
  event_id: Type.String(),
  status: Type.String({ description: 'accepted, or duplicate if this id was published before' }),
  recipients: Type.Optional(Type.Integer({ description: 'How many mailboxes the event reached' })),
})

const publish = async (given: EventInput, caller: ToolCaller, hints = HINTS): Promise<Record<string, unknown>> =>
  (await caller.call(operations.publishEvent, { body: envelopeOf(given, caller.id) }).catch(hinted(hints))) as Record<
    string,
    unknown
  >

export const eventTools = [
  tool({
    name: 'publish_event',
    title: 'Publish an event',
    description:
      'Tell other agents that something happened. The event reaches every agent that has subscribed to events of this type, and the recipient if you set one. Set an id if you might retry: each id is accepted only once.',
    input: Type.Object({ ...event, ...relations }),
    output: Published,
    effect: 'adds',
    run: (given, caller) => publish(given, caller),
  }),
  tool({
    name: 'post_to_channel',
    title: 'Post to a channel',
    description:
      'Send a message to every other member of a channel. You must be a member of it; list_channels shows the channels that you can see. For something that other agents should act on by its type, use publish_event.',
    input: Type.Object({
      channel_id: idArgument('chn', 'id of a channel from list_channels'),
      text: argument('Who is on call?', { minLength: 1, description: 'The message; it arrives as data.text' }),
      type: Type.Optional(Type.String({ default: POSTED_TYPE, description: 'The type of the event' })),
      subject: event.subject,
      ...relations,
    }),
    output: Published,
    effect: 'adds',
    async run({ channel_id, text, type = POSTED_TYPE, ...given }, caller) {
      // As a recipient, the id of an agent would be taken for that agent, and a name be called an unknown one.
      if (!isId('channel', channel_id)) throw notFound('channel', channel_id, `There is no such channel: ${CHANNEL}`)
      return publish({ ...given, type, recipient: channel_id, data: { text } }, caller, { ...HINTS, channel: CHANNEL })
    },
  }),
  tool({
    name: 'trace_event',
    title: 'Trace an event',
    description:
      'Show an event that you published: its whole content, who received it, and the state of each delivery.',
    input: Type.Object({
      event_id: argument('order-17-created', { description: 'event_id of an event that you published' }),
    }),
    output: Type.Object({ event: Type.Unknown(), deliveries: Type.Array(Type.Unknown()) }),
    effect: 'reads',
    run: ({ event_id }, { id, call }) =>
      call(operations.getEvent, { params: { id: event_id } }).catch(
        hinted({ event: isId('agent', id) ? OWN_EVENTS : ANY_EVENT }),
      ),
  }),
  tool({
    name: 'explain_event',
    title: 'Explain who would receive an event',
    description:
      'Show who would receive an event like this one, and why. With agent_id, also show why that agent would or would not receive it. Nothing is published.',
    input: Type.Object({ ...event, agent_id: Type.Optional(idArgument('agt', 'id of an agent from list_agents')) }),
    output: Type.Object({ recipients: Type.Array(Type.Unknown()), agent: Type.Optional(Type.Unknown()) }),
    effect: 'reads',
    run({ agent_id, ...given }, caller) {
      const about = agent_id === undefined ? {} : { agent_id }
      const hints = {
        ...HINTS,
        agent: 'agent_id is an id from list_agents, and recipient one from there or from list_channels',
      }
      const body = { event: envelopeOf(given, caller.id), ...about }
      return caller.call(operations.explainEvent, { body }).catch(hinted(hints))
    },
  }),
]
