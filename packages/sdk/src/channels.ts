// Channels, their members and their feeds.
import type { Channel, ChannelCreate, FeedCreate, MemberAdd, Operations } from './contract.ts'
import type { EventCalls, NewEvent } from './events.ts'
import { eachOf } from './pages.ts'
import type { Call, CallOptions } from './request.ts'

export function channelCalls(call: Call, publish: EventCalls['publish']) {
  return {
    list: (query: Operations['listChannels']['query'] = {}, options?: CallOptions) =>
      call('listChannels', { query }, options),
    each: (options?: CallOptions): AsyncGenerator<Channel, void, undefined> =>
      eachOf(async (page) => {
        const { channels, total } = await call('listChannels', { query: page }, options)
        return { items: channels, total }
      }),
    create: (body: ChannelCreate, options?: CallOptions) => call('createChannel', { body }, options),
    get: (id: string, options?: CallOptions) => call('getChannel', { params: { id } }, options),
    /** Publishes an event that every other member of the channel receives. */
    post: (id: string, event: NewEvent, options?: CallOptions) => publish({ ...event, recipient: id }, options),
    /** Deletes the channel with its members and feeds. */
    delete: (id: string, options?: CallOptions) => call('deleteChannel', { params: { id } }, options),
    members: (id: string, options?: CallOptions) => call('listMembers', { params: { id } }, options),
    addMember: (id: string, body: MemberAdd, options?: CallOptions) =>
      call('addMember', { params: { id }, body }, options),
    removeMember: (id: string, type: 'agent' | 'org_admin', participantId: string, options?: CallOptions) =>
      call('removeMember', { params: { id, participant_type: type, participant_id: participantId } }, options),
    feeds: (id: string, options?: CallOptions) => call('listFeeds', { params: { id } }, options),
    createFeed: (id: string, body: FeedCreate, options?: CallOptions) =>
      call('createFeed', { params: { id }, body }, options),
    deleteFeed: (id: string, feedId: string, options?: CallOptions) =>
      call('deleteFeed', { params: { id, feed_id: feedId } }, options),
  }
}
