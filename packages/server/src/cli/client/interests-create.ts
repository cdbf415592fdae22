import type { NewInterest } from '@sensorium/client'
import type { ClientRun } from '../command.ts'
import { withoutUndefined, numberOf } from './read-input.ts'

export const run: ClientRun = async ({ args, options, agent, client, signal }) => {
  const interest = {
    event_type: args[0]!,
    ...withoutUndefined({
      filter_expression: options['filter'],
      priority: numberOf('--priority', options['priority']),
      enrichment_depth: options['enrichment'],
      backfill: numberOf('--backfill', options['backfill']),
    }),
  } as NewInterest // the service checks the words
  const json = await client.interests.create(await agent(), interest, { signal })
  return { json, text: `Interest ${json.id} is created: ${json.event_type} goes to ${json.agent_id}.` }
}
