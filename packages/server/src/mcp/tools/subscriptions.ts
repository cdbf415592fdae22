// Subscriptions: the events that an agent wants to receive. The API calls them interests.
import { operations, Type, type Interest } from '@sensorium/contract'
import { agentOnly } from '../agent-only.ts'
import { hinted, isRefusal } from '../refusal.ts'
import { argument, idArgument, tool } from '../tool.ts'

const Subscription = Type.Object({
  subscription_id: Type.String(),
  event_type: Type.String(),
  filter: Type.Optional(Type.String()),
  priority: Type.Integer(),
  with_memories: Type.String(),
})

const subscriptionOf = ({ id, event_type, filter_expression, priority, enrichment_depth }: Interest) => ({
  subscription_id: id,
  event_type,
  ...(filter_expression === null ? {} : { filter: filter_expression }),
  priority,
  with_memories: enrichment_depth,
})

const NO_SUBSCRIPTIONS = 'An org-admin has no subscriptions; use the key of an agent'

/** Repeats a refusal that is about an interest as one about a subscription. What the caller wrote stays as it is. */
function inWordsOfTools(error: unknown): never {
  if (!isRefusal(error)) throw error
  const { resource_type, existing_interest_id, ...rest } = error.details as Record<string, unknown>
  const { rule } = rest
  if (resource_type !== 'interest' && rule !== 'interest_conflict' && rule !== 'too_many_interests') throw error
  const message = error.message.replace('an interest', 'a subscription').replace('interest', 'subscription')
  const details = {
    ...(resource_type === undefined ? {} : { resource_type: 'subscription' }),
    ...rest,
    ...(rule === undefined ? {} : { message }),
    ...(existing_interest_id === undefined ? {} : { existing_subscription_id: existing_interest_id }),
  }
  throw Object.assign(new Error(message), { code: error.code, details })
}

export const subscriptionTools = [
  tool({
    name: 'subscribe',
    title: 'Subscribe to events',
    description:
      'Receive events of a type in your mailbox from now on. event_type may contain wildcards: com.example.order.* means every order event. filter is a CEL expression that selects events by their data: data.total > 100 && data.currency == "EUR".',
    input: Type.Object({
      event_type: argument('com.example.order.*', { minLength: 1, description: 'A type; * stands for any text in it' }),
      filter: Type.Optional(
        argument('data.total > 100', { maxLength: 4096, description: 'A CEL expression over the event' }),
      ),
      priority: Type.Optional(Type.Integer({ minimum: 0, default: 0, description: 'Higher is delivered first' })),
      with_memories: Type.Optional(
        Type.Unsafe<'none' | 'light' | 'full'>({
          type: 'string',
          enum: ['none', 'light', 'full'],
          default: 'none',
          description: 'Whether your relevant memories arrive with an event: none, light (titles only) or full',
        }),
      ),
      backfill: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 1000,
          default: 0,
          description: 'Also receive up to this many of the newest events that match and were published before',
        }),
      ),
    }),
    output: Subscription,
    argumentOf: { filter_expression: 'filter', enrichment_depth: 'with_memories' },
    effect: 'adds',
    async run({ event_type, filter, priority = 0, with_memories = 'none', backfill = 0 }, { id, call }) {
      const body = {
        event_type,
        filter_expression: filter ?? null,
        priority,
        enrichment_depth: with_memories,
        backfill,
      }
      const params = { id: agentOnly(id, NO_SUBSCRIPTIONS) }
      const hints = { interest_conflict: 'to change it, unsubscribe from it first' }
      return subscriptionOf(
        await call(operations.createInterest, { params, body }).catch(inWordsOfTools).catch(hinted(hints)),
      )
    },
  }),
  tool({
    name: 'unsubscribe',
    title: 'Unsubscribe',
    description: 'End one of your subscriptions. Events that are already in the mailbox stay there.',
    input: Type.Object({
      subscription_id: idArgument('int', 'subscription_id of a subscription from list_subscriptions'),
    }),
    output: Type.Object({ unsubscribed: Type.Boolean() }),
    effect: 'removes',
    async run({ subscription_id }, { id, call }) {
      const params = { id: agentOnly(id, NO_SUBSCRIPTIONS), interest_id: subscription_id }
      const hints = { subscription: 'subscription_id is one from list_subscriptions' }
      await call(operations.deleteInterest, { params }).catch(inWordsOfTools).catch(hinted(hints))
      return { unsubscribed: true }
    },
  }),
  tool({
    name: 'list_subscriptions',
    title: 'List your subscriptions',
    description: 'List the events that you have subscribed to.',
    input: Type.Object({}),
    output: Type.Object({ subscriptions: Type.Array(Subscription) }),
    effect: 'reads',
    async run(_, { id, call }) {
      const { interests } = await call(operations.listInterests, { params: { id: agentOnly(id, NO_SUBSCRIPTIONS) } })
      return { subscriptions: interests.map(subscriptionOf) }
    },
  }),
]
