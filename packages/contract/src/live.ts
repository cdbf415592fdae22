// The activity of a tenant as it happens, for people who watch it and never for an agent.
import { EventSummary } from './events.ts'
import { operation } from './operation.ts'
import { Type, type Static, dateTime, eventTypeGlob, text } from './shapes.ts'

/** The most events that a live stream shows in a second. Of the rest it reports only how many it left out. */
export const MAX_LIVE_EVENTS = 200

export const LiveStats = Type.Object(
  {
    at: dateTime(),
    seconds: Type.Number({
      examples: [1],
      description: 'The length of the period that the counts cover, usually 1.',
    }),
    events: Type.Integer({ examples: [12], description: 'Events accepted.' }),
    deliveries: Type.Integer({ examples: [31], description: 'Deliveries put into mailboxes.' }),
    acknowledgements: Type.Integer({ examples: [30] }),
    failures: Type.Integer({
      examples: [1],
      description:
        'Deliveries given back, failed pushes, and lapsed leases. A lapsed lease counts when its delivery is delivered again or dead-lettered.',
    }),
    dead_letters: Type.Integer({ examples: [0] }),
    backlog: Type.Integer({
      examples: [4],
      description:
        'Deliveries that wait in mailboxes, neither leased nor dead-lettered. Exact up to 10,000, an estimate beyond that.',
    }),
    oldest_waiting_seconds: Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      examples: [3],
      description: 'The age of the oldest waiting delivery; null if none is waiting.',
    }),
    org_admin_backlog: Type.Integer({
      examples: [0],
      description: 'How many of `backlog` wait for the org-admin, who has a mailbox but is no agent.',
    }),
    org_admin_oldest_waiting_seconds: Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      examples: [null],
      description: 'The age of the oldest of those; null if none is waiting.',
    }),
    left_out: Type.Integer({
      examples: [0],
      description: `Events that this stream did not show: more than ${MAX_LIVE_EVENTS} a second, or more than the service could examine or the client could read.`,
    }),
  },
  { $id: 'LiveStats' },
)
export type LiveStats = Static<typeof LiveStats>

export const MAX_STATS_MINUTES = 1_440

const StatsMinute = Type.Object(
  {
    at: dateTime({ description: 'The start of the minute.' }),
    events: Type.Integer({ examples: [720] }),
    deliveries: Type.Integer({ examples: [1860] }),
    acknowledgements: Type.Integer({ examples: [1855] }),
    failures: Type.Integer({ examples: [4] }),
    dead_letters: Type.Integer({ examples: [0] }),
  },
  { $id: 'StatsMinute' },
)

export const liveOperations = {
  getStats: operation({
    id: 'getStats',
    summary: 'Get the activity of the tenant by minute',
    description:
      'Returns every minute of the requested period, oldest first; the last one is the current minute. Counts are kept for a day. Each node adds its counts every five seconds.',
    tag: 'Monitoring',
    method: 'GET',
    path: '/stats',
    access: { scope: 'org_admin' },
    query: Type.Object({
      minutes: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_STATS_MINUTES, default: 60, examples: [60] })),
    }),
    success: {
      200: {
        description: 'The minutes',
        schema: Type.Object({ minutes: Type.Array(StatsMinute) }, { $id: 'Stats' }),
      },
    },
  }),
  streamLive: operation({
    id: 'streamLive',
    summary: 'Watch the tenant live',
    description: `A stream of server-sent events. Once a second it sends \`event: stats\` with a LiveStats, and before that an \`event: event\` with an EventSummary for each accepted event that passes \`type\` and \`filter\`, at most ${MAX_LIVE_EVENTS} a second; \`left_out\` in the stats is the number of events that were not shown. Events of all nodes are included. A comment is sent every 15 seconds. The stream ends when its token ends, or when the client falls behind for ten seconds.`,
    tag: 'Monitoring',
    method: 'GET',
    path: '/live',
    access: { scope: 'org_admin' },
    query: Type.Object({
      type: Type.Optional(eventTypeGlob()),
      filter: Type.Optional(
        text(4096, {
          minLength: 1,
          examples: ['data.total > 100'],
          expected: 'a CEL expression of at most 4096 characters',
          description: 'A CEL expression over the event, as in an interest.',
        }),
      ),
    }),
    produces: 'text/event-stream',
    messages: { event: EventSummary, stats: LiveStats },
    success: {
      200: {
        description: 'Events and counts as they happen',
        schema: Type.String({
          examples: [
            'event: event\ndata: {"id":"order-1-created","type":"com.example.order.created",…}\n\nevent: stats\ndata: {"at":"2030-01-31T12:00:01.000Z","seconds":1,"events":1,…}\n\n',
          ],
        }),
      },
    },
  }),
} as const
