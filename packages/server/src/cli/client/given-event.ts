// Builds an event from the options of a command.
import type { NewEvent } from '@sensorium/client'
import type { ParsedInput } from '../command.ts'
import { withoutUndefined, readJson } from './read-input.ts'

export async function givenEvent(type: string, options: ParsedInput['options']): Promise<NewEvent> {
  const { subject, source, id, recipient, data } = options
  const given = withoutUndefined({ subject, source, id, recipient })
  return { type, ...given, ...(data === undefined ? {} : { data: await readJson('--data', data) }) }
}
