import type { EventSummary } from '@sensorium/client'
import type { ClientRun } from '../command.ts'
import { cleanLine } from '../terminal/clean.ts'
import { paint, screen, type Screen } from '../terminal/screen.ts'
import { cut } from '../terminal/width.ts'
import { when } from '../terminal/when.ts'
import { countOf, hasService } from './support/follow.ts'
import { withoutUndefined } from './support/read-input.ts'

const recipients = (count: number | null): string =>
  count === null ? 'many recipients' : count === 1 ? '1 recipient' : `${count} recipients`

function showEvent({ id, type, subject, source, snippet, received_at, ...event }: EventSummary, on: Screen): string {
  const about = [subject ?? '', `from ${source}`].map(cleanLine).filter((part) => part !== '')
  const data = snippet === null ? '' : cleanLine(snippet)
  return [
    `${paint('bold', cleanLine(type), on)}  ${about.join(' ')}`,
    ...(data === '' ? [] : [`  ${on.columns === null ? data : cut(data, on.columns - 2)}`]),
    paint('dim', `  event ${cleanLine(id)}  ${recipients(event.recipients)}  ${when(received_at, on)}`, on),
  ].join('\n')
}

export const run: ClientRun = async (call) => {
  const { options, client, print, signal } = call
  const count = countOf(options)
  if (!(await hasService(call))) return { json: undefined, text: '' }
  const { type, filter } = options
  const onError = (error: unknown): void => console.error(`${(error as Error).message}; trying again`)
  let printed = 0
  for await (const message of client.live(withoutUndefined({ type, filter }), { signal, onError })) {
    if (message.kind === 'stats') {
      const { left_out } = message.stats
      if (left_out > 0) console.error(`${left_out} more in this second, or too many to look at`)
      continue
    }
    await print({ json: message.event, text: showEvent(message.event, screen) })
    if (++printed >= count) break
  }
  return { json: undefined, text: '' }
}
