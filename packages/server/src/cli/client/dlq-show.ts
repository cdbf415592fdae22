import { SensoriumError, type Operations } from '@sensorium/client'
import type { ClientRun } from '../command.ts'
import { record } from '../terminal/record.ts'
import { cleanJson } from '../terminal/clean.ts'
import { when } from '../terminal/when.ts'

type DeadLetter = Operations['listDeadLetters']['response']['dlq_items'][number]

export const run: ClientRun = async ({ args, client, signal }) => {
  const id = args[0]!
  // The API lists dead letters; it has no request for a single one.
  let found: DeadLetter | undefined
  for await (const one of client.deliveries.eachDeadLetter({}, { signal })) {
    if (one.id !== id && one.event_id !== id) continue
    found = one
    break
  }
  if (found === undefined)
    throw new SensoriumError(404, { code: 'not_found', message: `There is no dead letter ${id}` }, null, null)
  const { payload, dlq_reason, attempt_count, event_id, created_at, dead_lettered_at } = found
  const text = record([
    ['id', found.id],
    ['event', event_id],
    ['type', String(payload['type'])],
    ['source', String(payload['source'])],
    ['subject', payload['subject'] === undefined ? null : String(payload['subject'])],
    ['reason', { text: dlq_reason, style: 'red' }],
    ['attempts', attempt_count],
    ['delivered', when(created_at)],
    ['given up', when(dead_lettered_at)],
    ['data', cleanJson(payload['data'], 2)],
  ])
  return { json: found, text: `${text}\n\nsensorium dlq replay ${found.id} puts it back into the mailbox.` }
}
