// What an error may repeat of a body: never a secret, and never the user and password of a URL.
import type { Operation } from '@sensorium/contract'
import { maskUser } from '../agents/endpoint-user.ts'

export interface Repeatable {
  /** Returns what to show for the value of a field that the schema declares. */
  ofField(field: string, value: unknown): unknown
  /** The same for any other part of a body, and for the whole: a secret may be in it by mistake. */
  ofPart(value: unknown): unknown
}

const REDACTED = '[redacted]'

export const ANYTHING: Repeatable = { ofField: (_, value) => value, ofPart: (value) => value }

/** A URL that is not well-formed is not masked in part: where its password ends is anyone's guess. */
function withoutUser(value: unknown): unknown {
  const shown = typeof value === 'string' ? maskUser(value) : value
  const text = typeof shown === 'string' ? shown : (JSON.stringify(shown) ?? '')
  return /@|\\u0040/.test(text.replace('***@', '')) ? REDACTED : shown
}

export function repeatableOf({ secrets, urlWithUser }: Pick<Operation, 'secrets' | 'urlWithUser'>): Repeatable {
  if (secrets)
    return { ofField: (field, value) => (secrets.includes(field) ? REDACTED : value), ofPart: () => REDACTED }
  if (urlWithUser === undefined) return ANYTHING
  return { ofField: (field, value) => (field === urlWithUser ? withoutUser(value) : value), ofPart: withoutUser }
}
