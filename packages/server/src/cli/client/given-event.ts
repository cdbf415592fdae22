// Builds an event from the options of a command.
import type { NewEvent } from '@sensorium/client'
import type { Given } from '../command.ts'
import { givenOnly, readJson } from './read-input.ts'

export async function givenEvent(type: string, options: Given['options']): Promise<NewEvent> {
  const { subject, source, id, recipient, data } = options
  const given = givenOnly({ subject, source, id, recipient })
  return { type, ...given, ...(data === undefined ? {} : { data: await readJson('--data', data) }) }
}
