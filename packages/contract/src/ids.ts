// Every id shows its kind: a prefix, then 26 characters of time-sortable base32 (48 bits of milliseconds, 80 random
// bits). Sorting ids as text sorts them by age, so a list needs no other tie-breaker.

export const ID_PREFIXES = {
  tenant: 'ten',
  org_admin: 'adm',
  agent: 'agt',
  api_key: 'key',
  interest: 'int',
  channel: 'chn',
  member: 'mbr',
  feed: 'fed',
  delivery: 'dlv',
  memory: 'mem',
  relationship: 'rel',
  webhook: 'whk',
  connector: 'cnr',
  audit_entry: 'aud',
} as const

export type IdKind = keyof typeof ID_PREFIXES

/** Crockford's alphabet in lower case: no i, l, o, u, so an id read aloud or copied by hand survives. */
export const ID_ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

const BODY = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/

/** Whether this service could have generated the id for that kind. A malformed id is treated as unknown. */
export function isId(kind: IdKind, id: string): boolean {
  const prefix = ID_PREFIXES[kind]
  return id.length === prefix.length + 27 && id.startsWith(prefix + '_') && BODY.test(id.slice(prefix.length + 1))
}
