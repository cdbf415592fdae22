// Builds an event from the options of a command.
import type { NewEvent } from '@sensorium/client'
import type { ParsedInput } from '../../command.ts'
import { withoutUndefined, readJson } from './read-input.ts'

export async function givenEvent(type: string, options: ParsedInput['options']): Promise<NewEvent> {
  const { subject, source, id, recipient, time, data } = options
  const given = withoutUndefined({
    subject,
    source,
    id,
    recipient,
    time,
    replyto: options['reply-to'],
    correlationid: options['correlation-id'],
    causationid: options['cause'],
  })
  return { type, ...given, ...(data === undefined ? {} : { data: await readJson('--data', data) }) }
}
