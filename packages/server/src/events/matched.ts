// Why a delivery was made, as stored in its row: a short text with the ids of interests and of feeds with their
// channels, and before them a mark if it was a test event or addressed to its receiver.
import type { Matched } from '@sensorium/contract'
import type { Match, Subscription } from '../routing/table.ts'

export const TEST_EVENT = 'test'
const ADDRESSED = 'recipient:'
/** A delivery that a hundred feeds lead to needs no hundred names. */
const MAX_NAMED = 10

/** `also` is `TEST_EVENT`, or a result of `addressedAs`. */
export function matchedText(subscriptions: readonly Subscription[], also?: string): string {
  const names = subscriptions.slice(0, MAX_NAMED).map((s) => (s.kind === 'feed' ? `${s.id}@${s.channelId}` : s.id))
  return [...(also ? [also] : []), ...names].join(' ')
}

export const addressedAs = (recipient: string): string => `${ADDRESSED}${recipient}`

/** Returns the part of a stored text that says whom the event was addressed to. */
export const addressedPart = (text: string): string | undefined =>
  text.split(' ').find((name) => name.startsWith(ADDRESSED))

const texts = new WeakMap<Match, string>()

/** The same for a match, cached: many events may share a match. */
export function textOfMatch(match: Match, also: string | undefined): string {
  if (also) return matchedText(match.matched, also)
  let text = texts.get(match)
  if (text === undefined) texts.set(match, (text = matchedText(match.matched)))
  return text
}

export const shownSubscription = (s: Subscription): Matched =>
  s.kind === 'feed' ? { kind: 'feed', id: s.id, channel_id: s.channelId! } : { kind: 'interest', id: s.id }

export const shownMatched = (text: string): Matched[] =>
  text
    .split(' ')
    .filter(Boolean)
    .map((name): Matched => {
      if (name === TEST_EVENT) return { kind: 'test_event', id: null }
      if (name.startsWith(ADDRESSED)) return { kind: 'recipient', id: name.slice(ADDRESSED.length) }
      const [id, channel] = name.split('@') as [string, string | undefined]
      return channel === undefined ? { kind: 'interest', id } : { kind: 'feed', id, channel_id: channel }
    })
