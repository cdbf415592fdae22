// What made a delivery, as it is kept in its row: ids of interests and of feeds with their channels, in a short text.
import type { Matched } from '@sensorium/contract'
import type { Subscription } from '../routing/table.ts'

export const TEST_EVENT = 'test'
/** A delivery that a hundred feeds lead to needs no hundred names. */
const MAX_NAMED = 10

export function matchedText(subscriptions: readonly Subscription[], also?: typeof TEST_EVENT): string {
  const names = subscriptions.slice(0, MAX_NAMED).map((s) => (s.kind === 'feed' ? `${s.id}@${s.channelId}` : s.id))
  return [...(also ? [also] : []), ...names].join(' ')
}

export const shownSubscription = (s: Subscription): Matched =>
  s.kind === 'feed' ? { kind: 'feed', id: s.id, channel_id: s.channelId! } : { kind: 'interest', id: s.id }

export const shownMatched = (text: string): Matched[] =>
  text
    .split(' ')
    .filter(Boolean)
    .map((name): Matched => {
      if (name === TEST_EVENT) return { kind: 'test_event', id: null }
      const [id, channel] = name.split('@') as [string, string | undefined]
      return channel === undefined ? { kind: 'interest', id } : { kind: 'feed', id, channel_id: channel }
    })
