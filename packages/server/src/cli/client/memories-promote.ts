import { UsageError, type ClientRun } from '../command.ts'
import { withoutUndefined } from './support/read-input.ts'

export const run: ClientRun = async ({ args, options, client, signal }) => {
  const { scope } = options
  if (scope === undefined)
    throw new UsageError(
      'Say who may find it: --scope team --team <id>, or --scope institutional',
      '--scope <team|institutional>',
    )
  const body = { scope, ...withoutUndefined({ team_id: options['team'] }) } as never // the service checks the words
  const json = await client.call('promoteMemory', { params: { id: args[0]! }, body }, { signal })
  const whom = json.scope === 'team' ? `the team ${json.team_id}` : 'everybody in the tenant'
  return { json, text: `${json.id} is found by ${whom} from now on.` }
}
