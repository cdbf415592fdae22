import type { RelationshipCreate } from '@sensorium/client'
import type { ClientRun } from '../command.ts'
import { withoutUndefined, numberOf } from './support/read-input.ts'

export const run: ClientRun = async ({ args, options, client, signal }) => {
  const type = (options['type'] ?? 'related_to') as RelationshipCreate['relationship_type'] // the service checks it
  const more = withoutUndefined({ strength: numberOf('--strength', options['strength']) })
  const json = await client.memory.relate(args[0]!, args[1]!, type, more, { signal })
  const how = json.relationship_type.replaceAll('_', ' ')
  return {
    json,
    text: `${json.source_memory_id} is ${how} ${json.target_memory_id} now (${json.id}, strength ${json.strength}).`,
  }
}
