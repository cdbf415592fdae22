// Refuses a misspelt member of what `ensure` is given. Nothing else would notice `agent` instead of `agents`: for a
// caller without types it is a description of nothing, and `mintKey` an option that nobody reads.
import type { Description, EnsureOptions } from './description.ts'

type Names<T> = Readonly<Record<keyof T, 1>>
type Item<K extends keyof Description> = NonNullable<Description[K]>[number]

// Records, so that the type check notices a field that is missing here.
const AGENT: Names<Item<'agents'>> = {
  external_id: 1,
  name: 1,
  description: 1,
  delivery_mode: 1,
  client_type: 1,
  team_id: 1,
  retry_schedule_seconds: 1,
}
const INTEREST: Names<Item<'interests'>> = {
  agent: 1,
  event_type: 1,
  filter_expression: 1,
  priority: 1,
  enrichment_depth: 1,
  backfill: 1,
}
const CHANNEL: Names<Item<'channels'>> = { external_id: 1, name: 1, description: 1, type: 1, members: 1 }
const FEED: Names<Item<'feeds'>> = { channel: 1, event_type_glob: 1, filter_expression: 1 }
const ITEMS: Readonly<Record<keyof Description, object>> = {
  agents: AGENT,
  interests: INTEREST,
  channels: CHANNEL,
  feeds: FEED,
}
const OPTIONS: Names<EnsureOptions & { idempotencyKey: unknown }> = {
  mintKeys: 1,
  keepOthers: 1,
  signal: 1,
  requestId: 1,
  headers: 1,
  idempotencyKey: 1,
}

/** Returns how many letters must be added, removed or changed to turn one name into the other. */
function changed(a: string, b: string): number {
  let last = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 0; i < a.length; i++) {
    const row = [i + 1]
    for (let j = 0; j < b.length; j++)
      row.push(Math.min(row[j]! + 1, last[j + 1]! + 1, last[j]! + (a[i] === b[j] ? 0 : 1)))
    last = row
  }
  return last[b.length]!
}

/** Throws a TypeError for the first member that has a value and no meaning. */
function refuseUnknown(where: string, given: object, known: object): void {
  const names = Object.keys(known)
  const wrong = Object.entries(given).find(([name, value]) => value !== undefined && !Object.hasOwn(known, name))?.[0]
  if (wrong === undefined) return
  const short = wrong.slice(0, 40)
  const away = (name: string): number => (name.startsWith(short) ? 0 : changed(short, name))
  const nearest = names.sort((a, b) => away(a) - away(b))[0]!
  const hint = away(nearest) <= nearest.length / 3 ? `Did you mean ${nearest}?` : `Known are ${names.sort().join(', ')}`
  throw new TypeError(`ensure: there is no member ${short} in ${where}. ${hint}`)
}

/** Throws a TypeError for a member of the description, of one of its items or of the options that nobody knows. */
export function refuseUnknownMembers(description: Description, options: EnsureOptions): void {
  refuseUnknown('the description', description, ITEMS)
  refuseUnknown('the options', options, OPTIONS)
  for (const [name, known] of Object.entries(ITEMS))
    for (const [i, item] of (description[name as keyof Description] ?? []).entries())
      refuseUnknown(`${name}[${i}]`, item, known)
}
