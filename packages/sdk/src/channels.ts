// Channels, their members and their feeds.
import type { Channel, ChannelCreate, FeedCreate, MemberAdd, Operations } from './contract.ts'
import { notFound } from './errors.ts'
import type { EventCalls, NewEvent } from './events.ts'
import { eachOf } from './pages.ts'
import type { Call, CallOptions } from './request.ts'

export function channelCalls(call: Call, publish: EventCalls['publish']) {
  return {
    /** Returns one page of the channels that the caller sees, and how many there are in all. */
    list: (query: Operations['listChannels']['query'] = {}, options?: CallOptions) =>
      call('listChannels', { query }, options),
    /** Yields all channels that the caller sees, fetching page after page. */
    each: (options?: CallOptions): AsyncGenerator<Channel, void, undefined> =>
      eachOf('channels', (page) => call('listChannels', { query: page }, options)),
    /** Creates a channel. */
    create: (body: ChannelCreate, options?: CallOptions) => call('createChannel', { body }, options),
    /** Returns a channel. */
    get: (id: string, options?: CallOptions) => call('getChannel', { params: { id } }, options),
    /** Publishes an event that every other member of the channel receives. */
    async post(id: string, event: NewEvent, options?: CallOptions) {
      // As a recipient, the id of an agent would be taken for that agent, and a name be called an unknown one.
      if (!id.startsWith('chn_'))
        throw notFound('There is no such channel', { resource_type: 'channel', resource_id: id })
      return publish({ ...event, recipient: id }, options)
    },
    /** Deletes the channel with its members and feeds. */
    delete: (id: string, options?: CallOptions) => call('deleteChannel', { params: { id } }, options),
    /** Lists the members of a channel. */
    members: (id: string, options?: CallOptions) => call('listMembers', { params: { id } }, options),
    /** Adds a member to a channel. */
    addMember: (id: string, body: MemberAdd, options?: CallOptions) =>
      call('addMember', { params: { id }, body }, options),
    /** Removes a member from a channel, or leaves it. */
    removeMember: (id: string, type: 'agent' | 'org_admin', participantId: string, options?: CallOptions) =>
      call('removeMember', { params: { id, participant_type: type, participant_id: participantId } }, options),
    /** Lists the feeds of a channel. */
    feeds: (id: string, options?: CallOptions) => call('listFeeds', { params: { id } }, options),
    /** Creates a feed: matching events go to every member of the channel from now on. */
    createFeed: (id: string, body: FeedCreate, options?: CallOptions) =>
      call('createFeed', { params: { id }, body }, options),
    /** Deletes a feed. */
    deleteFeed: (id: string, feedId: string, options?: CallOptions) =>
      call('deleteFeed', { params: { id, feed_id: feedId } }, options),
  }
}
