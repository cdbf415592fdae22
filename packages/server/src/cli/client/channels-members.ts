import type { MemberAdd } from '@sensorium/client'
import type { ClientRun } from '../command.ts'
import { withoutUndefined } from './support/read-input.ts'
import { showMembers } from './support/show-channel.ts'

export const run: ClientRun = async ({ args, options, client, signal }) => {
  const id = args[0]!
  const { add, remove, role } = options
  if (add !== undefined) {
    const body = { participant_type: 'agent', participant_id: add, ...withoutUndefined({ role }) } as MemberAdd
    await client.channels.addMember(id, body, { signal })
  }
  if (remove !== undefined) await client.channels.removeMember(id, 'agent', remove, { signal })
  const json = await client.channels.members(id, { signal })
  return { json, text: showMembers(json.members) }
}
