import { UsageError, type ClientRun } from '../command.ts'
import { withoutUndefined } from './support/read-input.ts'
import { showFeeds } from './support/show-channel.ts'

export const run: ClientRun = async ({ args, options, client, signal }) => {
  const id = args[0]!
  const { add, remove, filter } = options
  if (filter !== undefined && add === undefined) throw new UsageError('--filter belongs to --add <event-type>', '--add')
  if (add !== undefined) {
    const body = { event_type_glob: add, ...withoutUndefined({ filter_expression: filter }) }
    await client.channels.createFeed(id, body, { signal })
  }
  if (remove !== undefined) await client.channels.deleteFeed(id, remove, { signal })
  const json = await client.channels.feeds(id, { signal })
  return { json, text: showFeeds(json.feeds) }
}
