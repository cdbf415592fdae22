import type { ClientRun } from '../command.ts'
import { record } from '../terminal/record.ts'
import { when } from '../terminal/when.ts'
import { showFeeds, showMembers } from './support/show-channel.ts'

export const run: ClientRun = async ({ args, client, signal }) => {
  const id = args[0]!
  const channel = await client.channels.get(id, { signal })
  const { members } = await client.channels.members(id, { signal })
  const { feeds } = await client.channels.feeds(id, { signal })
  const head = record([
    ['id', channel.id],
    ['name', channel.name],
    ['type', channel.type],
    ['description', channel.description],
    ['since', when(channel.created_at)],
  ])
  return { json: { channel, members, feeds }, text: [head, showMembers(members), showFeeds(feeds)].join('\n\n') }
}
