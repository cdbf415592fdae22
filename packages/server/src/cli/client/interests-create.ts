import type { NewInterest } from '@sensorium/client'
import { UsageError, type ClientRun } from '../command.ts'
import { withoutUndefined, numberOf } from './support/read-input.ts'

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
  if (options['agent'] === undefined && !(await client.agent({ signal })))
    throw new UsageError(
      "Only an agent creates its interests, and this is an org-admin's key. Sign in with a key of the agent: `sensorium login --profile <name>`, or set SENSORIUM_KEY",
      'a key of the agent',
    )
  const json = await client.interests.create(await agent(), interest, { signal })
  return { json, text: `Interest ${json.id} is created: ${json.event_type} goes to ${json.agent_id}.` }
}
