// The mailbox: receive events, and acknowledge them or give them back.
import { operations, Type, type Static } from '@sensorium/contract'
import { DeliverySummary, deliverySummary, USUAL_DATA } from '../shapes.ts'
import { isRefusal } from '../refusal.ts'
import { argument, idArgument, tool } from '../tool.ts'

/** The default limit on the size of an event, as text. All events of one result share it: a model reads no more. */
const MOST_DATA = 1_048_576
/** What is shown of each event, whatever the events before it have used up. */
const LEAST_DATA = 100

/** For the call that follows. If the rate limit refuses that one, a later attempt still finds the deliveries. */
const HELD_SECONDS = 300

/** The operation lists no more. */
const MOST_RECENT = 100

const ids = Type.Array(idArgument('dlv'), {
  minItems: 1,
  maxItems: 100,
  description: 'delivery_id of one or more deliveries from check_mailbox',
})

/** Settles deliveries one by one, since the operation only counts. Returns those that it did not settle. */
async function notSettled(ids: Iterable<string>, settle: (id: string) => Promise<number>): Promise<string[]> {
  const others: string[] = []
  for (const id of ids) if ((await settle(id)) === 0) others.push(id)
  return others
}

const orNone = <const K extends string>(name: K, others: string[]): { [name in K]?: string[] } =>
  others.length === 0 ? {} : ({ [name]: others } as { [name in K]: string[] })

export const mailboxTools = [
  tool({
    name: 'check_mailbox',
    title: 'Check the mailbox',
    description:
      'Get events that arrived for you. Each one is reserved for you for a short time (30 seconds unless configured otherwise): handle it, then call acknowledge, or give_back if you could not handle it. If you need longer, call extend_lease before the time is over. An event that you neither acknowledge nor give back arrives again. With wait_seconds the call waits that long for an event to arrive.',
    input: Type.Object({
      limit: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 20, default: 5, description: 'The most events to get' }),
      ),
      wait_seconds: Type.Optional(
        Type.Integer({ minimum: 0, maximum: 20, default: 0, description: 'How long to wait for an event to arrive' }),
      ),
      data_characters: Type.Optional(
        Type.Integer({
          minimum: LEAST_DATA,
          maximum: MOST_DATA,
          default: USUAL_DATA,
          description:
            'How many characters of the data of each event to show; set it higher if data_is_cut. All events of one call show at most 1048576 together.',
        }),
      ),
    }),
    output: Type.Object({ deliveries: Type.Array(DeliverySummary), count: Type.Integer() }),
    effect: 'adds',
    async run({ limit = 5, wait_seconds = 0, data_characters = USUAL_DATA }, { events, pause }) {
      let room = MOST_DATA
      const input = { query: { limit, wait: wait_seconds } }
      const deliveries: Static<typeof DeliverySummary>[] = []
      for await (const delivery of events(operations.pollDeliveries, input)) {
        const most = Math.min(data_characters, Math.max(room, LEAST_DATA))
        const { summary, shown } = await deliverySummary(delivery, most, pause)
        deliveries.push(summary)
        room -= shown
      }
      return { deliveries, count: deliveries.length }
    },
  }),
  tool({
    name: 'acknowledge',
    title: 'Acknowledge deliveries',
    description: 'Confirm that you have handled these deliveries, so that they do not arrive again.',
    input: Type.Object({ delivery_ids: ids }),
    output: Type.Object({
      acknowledged: Type.Integer({ description: 'How many of them this call acknowledged.' }),
      not_acknowledged: Type.Optional(
        Type.Array(Type.String(), {
          description:
            'The others, unless they are among the last hundred that you acknowledged: they failed too often while you worked, or were never yours. What you did for them may have to be done again by somebody.',
        }),
      ),
    }),
    effect: 'sets',
    async run({ delivery_ids }, { id, call, events }) {
      const { acknowledged } = await call(operations.ackDeliveries, { body: { delivery_ids } })
      const others = new Set(delivery_ids)
      if (acknowledged === others.size) return { acknowledged }
      // The count does not say which. The most recently acknowledged events do, and those of an earlier call are among
      // them too.
      try {
        const input = { params: { id }, query: { limit: MOST_RECENT } }
        for await (const { delivery_id } of events(operations.listRecentEvents, input))
          if (others.delete(delivery_id) && others.size === 0) return { acknowledged }
      } catch (error) {
        // An org-admin has no list of them.
        if (isRefusal(error)) return { acknowledged }
        throw error
      }
      return { acknowledged, not_acknowledged: [...others] }
    },
  }),
  tool({
    name: 'extend_lease',
    title: 'Keep deliveries for longer',
    description:
      'Keep these deliveries reserved for you for so many seconds from now, because handling them takes longer. Call it before their time is over. A delivery that is not extended is no longer yours: do not go on with it.',
    input: Type.Object({
      delivery_ids: ids,
      seconds: Type.Integer({
        minimum: 1,
        maximum: 3600,
        examples: [120],
        description: 'How long you keep them, from now on',
      }),
    }),
    output: Type.Object({
      extended: Type.Integer({ description: 'How many of them are reserved for longer.' }),
      not_extended: Type.Optional(
        Type.Array(Type.String(), { description: 'The others, which are no longer yours: do not go on with them.' }),
      ),
    }),
    effect: 'sets',
    async run({ delivery_ids, seconds }, { call }) {
      const given = new Set(delivery_ids)
      const extend = async (ids: string[]): Promise<number> =>
        (await call(operations.extendDeliveries, { body: { delivery_ids: ids, seconds } })).extended
      if ((await extend([...given])) === given.size) return { extended: given.size }
      const others = await notSettled(given, (id) => extend([id]))
      return { extended: given.size - others.length, ...orNone('not_extended', others) }
    },
  }),
  tool({
    name: 'give_back',
    title: 'Give deliveries back',
    description:
      'Report that you could not handle these deliveries. They arrive again, at once or after retry_after_seconds. With dead_letter true they do not arrive again and are set aside for a person, with your reason.',
    input: Type.Object({
      delivery_ids: ids,
      reason: Type.Optional(
        argument('the ledger is closed', { maxLength: 1000, description: 'Why you could not handle them' }),
      ),
      retry_after_seconds: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 86400,
          examples: [60],
          description: 'When they arrive again; 0 is at once',
        }),
      ),
      dead_letter: Type.Optional(
        Type.Boolean({ description: 'Set them aside for a person, instead of letting them arrive again' }),
      ),
    }),
    output: Type.Object({
      given_back: Type.Integer({ description: 'How many of them were given back.' }),
      not_given_back: Type.Optional(
        Type.Array(Type.String(), {
          description:
            'The others, which were not reserved for you: their time was over, or they were given back, handled or set aside before.',
        }),
      ),
    }),
    effect: 'sets',
    async run({ delivery_ids, ...how }, { call }) {
      const given = new Set(delivery_ids)
      const giveBack = async (ids: string[]): Promise<number> =>
        (await call(operations.nackDeliveries, { body: { delivery_ids: ids, ...how } })).nacked
      // The count does not say which, and a second call gives nothing back. Whether all are held can be asked first.
      const asked = { delivery_ids: [...given], seconds: HELD_SECONDS }
      if (given.size > 1 && (await call(operations.extendDeliveries, { body: asked })).extended === given.size)
        return { given_back: await giveBack([...given]) }
      const others = await notSettled(given, (id) => giveBack([id]))
      return { given_back: given.size - others.length, ...orNone('not_given_back', others) }
    },
  }),
]
