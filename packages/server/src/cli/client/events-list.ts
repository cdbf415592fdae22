import type { ClientRun } from '../command.ts'
import { pastTime } from '../past-time.ts'
import { paint } from '../terminal/screen.ts'
import { list } from '../terminal/table.ts'
import { when } from '../terminal/when.ts'
import { numberOf } from './support/read-input.ts'

export const run: ClientRun = async ({ options, client, signal }) => {
  const { type, subject, source, id, sender, cause } = options
  const query = {
    ...{ type, subject, source, id, sender, causationid: cause },
    since: pastTime('since', options),
    until: pastTime('until', options),
    offset: numberOf('--offset', options['offset']),
    limit: numberOf('--limit', options['limit']),
  }
  const json = await client.events.list(query, { signal })
  const rows = json.events.map((event) => [
    event.id,
    event.type,
    event.subject,
    event.sender,
    event.recipients,
    when(event.received_at),
  ])
  const head = ['id', 'type', 'subject', 'sender', 'recipients', 'accepted']
  const text = list(head, rows, { none: 'No event fits.', total: json.total })
  const further = `Searched back to ${json.searched_back_to}; --until ${json.searched_back_to} goes on from there.`
  return { json, text: json.searched_back_to === null ? text : `${text}\n${paint('dim', further)}` }
}
