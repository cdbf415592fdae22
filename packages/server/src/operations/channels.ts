// /channels, their members and their feeds
import { operations } from '@sensorium/contract'
import { createChannel } from '../channels/create.ts'
import { deleteChannel } from '../channels/delete.ts'
import { checkFeed, createFeed, deleteFeed, feedPages, type FeedTools } from '../channels/feeds.ts'
import { putChannel } from '../channels/put.ts'
import { getChannel } from '../channels/get.ts'
import { listChannels } from '../channels/list.ts'
import { addMember, memberPages, removeMember } from '../channels/members.ts'
import { shownFeed, shownMember } from '../channels/sql.ts'
import { longList } from './long-list.ts'
import { created, noContent, ok } from './response.ts'
import { prepared, read, write, type Binding } from './binding.ts'

export const channelOperations = (tools: FeedTools): Binding[] => {
  const { now } = tools
  return [
    read(operations.listChannels, async ({ principal, query }, db) => ok(await listChannels(db, principal, query))),

    write(operations.createChannel, async ({ principal, body }, tx) =>
      created(await createChannel(tx, tools, principal, body)),
    ),

    write(operations.putChannel, async ({ principal, params, body }, tx) => {
      const { channel, made } = await putChannel(tx, tools, principal, params.external_id, body)
      return made ? created(channel) : ok(channel)
    }),

    read(operations.getChannel, async ({ principal, params }, db) => ok(await getChannel(db, principal, params.id))),

    write(operations.deleteChannel, async ({ principal, params }, tx) => {
      await deleteChannel(tx, now(), principal, params.id)
      return noContent()
    }),

    read(operations.listMembers, async ({ principal, params, options }, db) =>
      longList('members', memberPages(db, principal, params.id), shownMember, options.brief),
    ),

    write(operations.addMember, async ({ principal, params, body }, tx) =>
      created(await addMember(tx, tools, principal, params.id, body)),
    ),

    write(operations.removeMember, async ({ principal, params }, tx) => {
      await removeMember(tx, now(), principal, params.id, params.participant_type, params.participant_id)
      return noContent()
    }),

    read(operations.listFeeds, async ({ principal, params, options }, db) =>
      longList('feeds', feedPages(db, principal, params.id), shownFeed, options.brief),
    ),

    prepared(operations.createFeed, async ({ principal, params, body }) => {
      checkFeed(body)
      return { run: async (tx) => created(await createFeed(tx, tools, principal, params.id, body)) }
    }),

    write(operations.deleteFeed, async ({ principal, params }, tx) => {
      await deleteFeed(tx, now(), principal, params.id, params.feed_id)
      return noContent()
    }),
  ]
}
