// Whether two services that got the same requests responded alike. Ids and secrets are random in each, so ids are
// paired when they are first seen, and from then on one has to stand where the other does.
import type { WireReply } from './wire.ts'

export interface SameReply {
  /** Returns a request to the first service as the second one has to get it. */
  forOther(bytes: Buffer): Buffer
  /** Returns how the responses differ, or null. */
  difference(one: WireReply | null, other: WireReply | null): string | null
}

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const ID = new RegExp(String.raw`\b(?:${UUID}|[a-z]{3}_[0-9a-z]{26})\b`, 'g')
/** Members that are random, or the time of the machine. */
const OWN = /^(?:key|prefix|.*_key|key_prefix|.*secret|access_token|url|own_url|request_id|traceparent|last_poll_at)$/
const HEADERS = [
  'content-type',
  'retry-after',
  'allow',
  'preference-applied',
  'idempotent-replayed',
  'www-authenticate',
]
/** Scores are rounded to four digits, and the engines add up in another order. */
const SCORE_STEP = 0.00011

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
const kindOf = (id: string): string => (id.includes('-') ? 'uuid' : id.slice(0, 4))

/** `pairs` are texts of the first service and what stands for them in the second: tokens and ids. */
export function makeSameReply(pairs: Iterable<readonly [string, string]>): SameReply {
  const paired = new Map(pairs)
  const tokens = [...paired].filter(([one]) => one.match(ID)?.[0] !== one)

  function inOther(text: string): string {
    for (const [one, other] of tokens) text = text.replaceAll(one, other)
    return text.replace(ID, (id) => paired.get(id) ?? id)
  }

  /** Pairs the ids of two texts, in their order. */
  function pairIds(one: string, other: string): void {
    const others = other.match(ID) ?? []
    for (const [i, id] of (one.match(ID) ?? []).entries()) {
      const its = others[i]
      if (!paired.has(id) && its !== undefined && kindOf(id) === kindOf(its)) paired.set(id, its)
    }
  }

  function differ(one: unknown, other: unknown, path: string): string | null {
    const name = path.slice(path.lastIndexOf('.') + 1)
    if (OWN.test(name) || Object.is(one, other)) return null
    const both = `${path}: ${JSON.stringify(one)} and ${JSON.stringify(other)}`
    if (typeof one === 'string' && typeof other === 'string') {
      pairIds(one, other)
      return inOther(one) === other ? null : both
    }
    if (typeof one === 'number' && typeof other === 'number')
      return name === 'score' && Math.abs(one - other) < SCORE_STEP ? null : both
    if (!isObject(one) || !isObject(other) || Array.isArray(one) !== Array.isArray(other)) return both
    const names = Object.keys(one)
    if (names.length !== Object.keys(other).length) return both
    for (const member of names) {
      const found = differ(
        one[member],
        other[inOther(member)],
        Array.isArray(one) ? `${path}[${member}]` : `${path}.${member}`,
      )
      if (found !== null) return found
    }
    return null
  }

  function bodyDiffers(one: string, other: string): string | null {
    if (one === other) return null
    try {
      return differ(JSON.parse(one), JSON.parse(other), '$')
    } catch {
      // Lines of JSON, or no JSON at all.
      const [lines, others] = [one.split('\n'), other.split('\n')]
      for (const [i, line] of lines.entries()) {
        const found = line.startsWith('{') ? differ(JSON.parse(line), JSON.parse(others[i] ?? '""'), `$${i}`) : null
        if (found !== null) return found
      }
      return lines.length === others.length ? null : `${lines.length} and ${others.length} lines`
    }
  }

  return {
    forOther: (bytes) => Buffer.from(inOther(bytes.toString('latin1')), 'latin1'),
    difference(one, other) {
      if (one === null || other === null) return one === other ? null : 'one gave no response'
      if (one.status !== other.status) return `${one.status} and ${other.status}: ${one.body} and ${other.body}`
      const header = HEADERS.find((name) => one.headers.get(name) !== other.headers.get(name))
      if (header) return `${header}: ${one.headers.get(header)} and ${other.headers.get(header)}`
      return bodyDiffers(one.body.toString(), other.body.toString())
    },
  }
}
