// The small shapes that tools return: titles and snippets with ids, the rest on demand.
import { Type, type Delivery, type Memory, type Static } from '@sensorium/contract'
import { snippet } from '../kernel/beginning-of.ts'
import { jsonPieces } from '../kernel/json-write.ts'
import { passOnInSteps } from '../kernel/json-steps.ts'
import type { Pause } from '../kernel/step-turns.ts'
import { LongData } from './long-data.ts'

const SNIPPET = 300
/** How many characters of an event's data are shown by default. */
export const USUAL_DATA = 4_000

const text = (description: string) => Type.String({ description })

export const MemorySummary = Type.Object({
  id: Type.String(),
  title: Type.String(),
  snippet: text('The beginning of the content; get_memory returns all of it.'),
  type: Type.String(),
  scope: Type.String(),
  score: Type.Optional(
    Type.Number({ description: 'About the probability that the memory is relevant to the query, from 0 to 1.' }),
  ),
})

export const summaryOf = ({ id, title, content, type, scope }: Memory, score?: number) => ({
  id,
  title: snippet(title, SNIPPET),
  snippet: snippet(content, SNIPPET),
  type,
  scope,
  ...(score === undefined ? {} : { score: Math.round(score * 1000) / 1000 }),
})

export const DeliverySummary = Type.Object({
  delivery_id: text('Pass this id to acknowledge or give_back.'),
  event_id: Type.String(),
  type: Type.String(),
  source: Type.String(),
  subject: Type.Optional(Type.String()),
  time: Type.Optional(Type.String()),
  recipient: Type.Optional(text('The agent or channel that the event was addressed to.')),
  reply_to: Type.Optional(text('Where a reply should go: use it as the recipient in publish_event.')),
  correlation_id: Type.Optional(text('Repeat this in a reply.')),
  caused_by: Type.Optional(text('The event_id of the event that led to this one.')),
  attempt: Type.Integer(),
  data: Type.Optional(
    Type.Unknown({ description: 'The data of the event; if it is long, the beginning of its JSON as text.' }),
  ),
  data_is_cut: Type.Optional(
    Type.Boolean({
      description:
        'Only the beginning of the data is shown. To read the rest, call give_back, then check_mailbox with a lower limit and more data_characters.',
    }),
  ),
  related_memories: Type.Optional(Type.Array(Type.Unknown())),
})

/**
 * Returns the data of an event, or the beginning of its JSON if that is longer than `most`, and how many characters are
 * shown. It is written in steps, no further than it is shown.
 */
export async function shownData(
  data: unknown,
  most: number,
  pause: Pause,
): Promise<{ shown: number; fields: { data?: unknown; data_is_cut?: true } }> {
  if (data === undefined) return { shown: 0, fields: {} }
  const cut = (text: string) => ({ shown: most, fields: { data: snippet(text, most), data_is_cut: true as const } })
  if (data instanceof LongData) {
    if (data.text.length > most) return cut(data.text)
    return { shown: data.text.length, fields: { data: await passOnInSteps(data.text, pause) } }
  }
  let written = ''
  for (const piece of jsonPieces(data)) {
    if (written !== '') await pause()
    written += piece
    if (written.length > most) return cut(written)
  }
  return { shown: written.length, fields: { data } }
}

/** Returns the summary, and how many characters of data it shows. */
export async function deliverySummary(
  { id, event_id, attempt_count, payload }: Delivery,
  dataCharacters: number,
  pause: Pause,
): Promise<{ summary: Static<typeof DeliverySummary>; shown: number }> {
  const { type, source, data, enrichment, ...attributes } = payload as Record<string, unknown>
  const named = (name: string, attribute: string): Record<string, string> =>
    typeof attributes[attribute] === 'string' ? { [name]: attributes[attribute] } : {}
  const { shown, fields } = await shownData(data, dataCharacters, pause)
  const memories = (enrichment as { memories?: unknown[] } | undefined)?.memories
  const summary = {
    delivery_id: id,
    event_id,
    type: String(type),
    source: String(source),
    ...named('subject', 'subject'),
    ...named('time', 'time'),
    ...named('recipient', 'recipient'),
    ...named('reply_to', 'replyto'),
    ...named('correlation_id', 'correlationid'),
    ...named('caused_by', 'causationid'),
    attempt: attempt_count,
    ...fields,
    ...(memories && memories.length > 0 ? { related_memories: memories } : {}),
  }
  return { summary, shown }
}
