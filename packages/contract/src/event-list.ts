// The search over accepted events, and the list of event types.
import { EventSummary, MAX_EVENT_ID } from './events.ts'
import { operation } from './operation.ts'
import { Type, dateTime, eventTypeGlob, nullableDateTime, page, text } from './shapes.ts'

/** How many retained events one search looks through, newest first. */
export const MAX_EVENTS_SEARCHED = 10_000

const exactly = (maxLength: number, example: string) =>
  Type.Optional(text(maxLength, { minLength: 1, examples: [example], expected: `1 to ${maxLength} characters` }))

const EventType = Type.Object(
  {
    type: Type.String({ examples: ['com.example.order.created'] }),
    count: Type.Integer({ examples: [1200], description: 'Events accepted within the retention time, in whole days.' }),
    last_at: dateTime({ description: 'When the last event of this type was accepted.' }),
    listeners: Type.Integer({
      examples: [3],
      description:
        'Active agents and org-admins with an interest or feed whose pattern matches the type, regardless of its filter.',
    }),
  },
  { $id: 'EventType' },
)

export const eventListOperations = {
  listEventTypes: operation({
    id: 'listEventTypes',
    summary: 'List event types, latest first',
    description:
      'Shows which types of events the tenant publishes, how often, and how many agents listen. A node counts at most 1,000 types a day; the counts of other nodes are added within seconds.',
    tag: 'Events',
    method: 'GET',
    path: '/events/types',
    access: { scope: 'any' },
    query: Type.Object({ ...page }),
    success: {
      200: {
        description: 'A page of types',
        schema: Type.Object(
          { types: Type.Array(EventType), total: Type.Integer({ examples: [1] }) },
          { $id: 'EventTypeList' },
        ),
      },
    },
  }),
  listEvents: operation({
    id: 'listEvents',
    summary: 'Search the events of the tenant, newest first',
    description: `Searches the newest ${MAX_EVENTS_SEARCHED.toLocaleString('en')} retained events between \`since\` and \`until\`. If there are more, \`searched_back_to\` is the time that the search reached: repeat the search with it as \`until\` to continue. \`total\` is the number of events found.`,
    tag: 'Events',
    method: 'GET',
    path: '/events',
    access: { scope: 'org_admin' },
    query: Type.Object({
      type: Type.Optional(eventTypeGlob()),
      subject: exactly(4096, 'order/1'),
      source: exactly(4096, '/orders'),
      id: exactly(MAX_EVENT_ID, 'order-1-created'),
      sender: exactly(255, 'agt_01hv3k8z9q4m7t2x5c6w8r0s1d'),
      causationid: exactly(MAX_EVENT_ID, 'order-1-created'),
      since: Type.Optional(dateTime({ description: 'Accepted at or after this time.' })),
      until: Type.Optional(dateTime({ description: 'Accepted at or before this time.' })),
      ...page,
    }),
    success: {
      200: {
        description: 'A page of events',
        schema: Type.Object(
          {
            events: Type.Array(EventSummary),
            total: Type.Integer({ examples: [1] }),
            searched_back_to: nullableDateTime({
              examples: [null],
              description: 'The time that the search reached; null if it covered everything.',
            }),
          },
          { $id: 'EventList' },
        ),
      },
    },
  }),
} as const
