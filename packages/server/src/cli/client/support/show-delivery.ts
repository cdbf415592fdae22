// Shows a delivery to a person: type, subject and source, then the data, then ids and time.
import type { Delivery } from '@sensorium/client'
import { cleanJson, cleanLine } from '../../terminal/clean.ts'
import { paint, screen, type Screen } from '../../terminal/screen.ts'
import { cut } from '../../terminal/width.ts'
import { when } from '../../terminal/when.ts'

const text = (value: unknown): string => (typeof value === 'string' ? cleanLine(value) : '')

/** Returns the titles of what the agent remembers about the event. */
function remembered(payload: Delivery['payload']): string[] {
  const { memories } = (payload['enrichment'] ?? {}) as { memories?: { id?: unknown; title?: unknown }[] }
  return (Array.isArray(memories) ? memories : []).map(({ id, title }) => `remembers: ${text(title)} (${text(id)})`)
}

export function showDelivery(
  {
    id,
    event_id,
    payload,
    attempt_count,
    created_at,
  }: Pick<Delivery, 'id' | 'event_id' | 'payload' | 'attempt_count' | 'created_at'>,
  full: boolean,
  on: Screen = screen,
): string {
  const about = [text(payload['subject']), `from ${text(payload['source'])}`].filter((part) => part !== '').join(' ')
  const again = attempt_count > 1 ? paint('yellow', `  attempt ${attempt_count}`, on) : ''
  const data = 'data' in payload ? payload['data'] : payload['data_base64']
  const short = cleanJson(data)
  const shown =
    data === undefined
      ? []
      : full
        ? cleanJson(data, 2).split('\n')
        : [on.columns === null ? short : cut(short, on.columns - 2)]
  return [
    `${paint('bold', text(payload['type']), on)}  ${about}${again}`,
    ...[...shown, ...remembered(payload)].map((line) => `  ${line}`),
    paint('dim', `  ${id}  event ${cleanLine(event_id)}  ${when(created_at, on)}`, on),
  ].join('\n')
}
