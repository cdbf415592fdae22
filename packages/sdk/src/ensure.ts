// Makes agents, interests, channels and feeds match a description. Made for start-up code, which may run repeatedly and
// in several processes at once.
//
// 1. The description names things by external ids, so a second run finds what the first one created.
// 2. If the interests of an agent or the feeds of a channel are described, those that are not described are removed:
//    changing a filter in the description leaves no old one behind. Nothing else is ever deleted.
// 3. Only an agent itself can create its interests. An org-admin does it with a key of that agent, which is minted for
//    the purpose and revoked as soon as it has been used.
import type { Agent, Channel, Feed, FeedCreate, Interest } from './contract.ts'
import type { Description, EnsureOptions } from './description.ts'
import { interestOf, type NewInterest } from './agents.ts'
import { SensoriumError } from './errors.ts'
import { refuseUnknownMembers } from './refuse-unknown.ts'
import type { Call, CallOptions } from './request.ts'
import { orAborted } from './wait.ts'

/** What exists now: agents and channels by external id, interests and feeds in the order of the description. */
export interface Ensured {
  agents: Record<string, Agent>
  channels: Record<string, Channel>
  interests: Interest[]
  feeds: Feed[]
}

export interface EnsureTools {
  call: Call
  /** Returns the id of the agent that this client's key belongs to. */
  ownId(): Promise<string | undefined>
  /** Returns a `call` that authenticates with this key. */
  callWith(apiKey: string): Call
}

interface EnsureSettings {
  mintKeys: boolean
  keepOthers: boolean
  options: CallOptions
}

const isRefused = (error: unknown, status: number, rule?: string): boolean =>
  error instanceof SensoriumError && error.status === status && (rule === undefined || error.details['rule'] === rule)

/** Resolves to null if the call is refused in this way: another process, or an earlier run, already did the work. */
async function nullIfRefused<T>(work: Promise<T>, status: number, rule?: string): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    if (isRefused(error, status, rule)) return null
    throw error
  }
}

const sameSubscription = (a: Interest, b: NewInterest): boolean =>
  a.event_type === b.event_type && a.filter_expression === (b.filter_expression ?? null)

const sameInterest = (a: Interest, b: NewInterest): boolean => {
  const { priority, enrichment_depth } = interestOf(b)
  return sameSubscription(a, b) && a.priority === priority && a.enrichment_depth === enrichment_depth
}

const sameFeed = (a: Feed, b: FeedCreate): boolean =>
  a.event_type_glob === b.event_type_glob && a.filter_expression === (b.filter_expression ?? null)

/** Returns what to create and to remove so that each wanted item exists once. Ids sort by age: the oldest stays. */
function difference<Had extends { id: string }, Wanted>(
  had: readonly Had[],
  wanted: readonly Wanted[],
  isSame: (had: Had, wanted: Wanted) => boolean,
): { missing: Wanted[]; others: Had[] } {
  const others = [...had].sort((a, b) => (a.id < b.id ? -1 : 1))
  const missing = wanted.filter((one) => {
    const found = others.findIndex((candidate) => isSame(candidate, one))
    if (found !== -1) others.splice(found, 1)
    return found === -1
  })
  return { missing, others }
}

/** Groups the wanted items by the id of the agent or channel that each belongs to. */
function grouped<Wanted extends object>(
  wanted: readonly Wanted[],
  idOf: (one: Wanted) => string,
): Map<string, Wanted[]> {
  const groups = new Map<string, Wanted[]>()
  for (const one of wanted) groups.set(idOf(one), [...(groups.get(idOf(one)) ?? []), one])
  return groups
}

/** Runs `work` with a `call` that is allowed to create interests of the agent. */
async function asAgent(
  { call, ownId, callWith }: EnsureTools,
  id: string,
  { mintKeys, options }: EnsureSettings,
  work: (call: Call) => Promise<void>,
): Promise<void> {
  if (id === (await orAborted(ownId(), options.signal))) return work(call)
  if (!mintKeys)
    throw new TypeError(`Only ${id} itself creates its interests: run ensure with its key, or with mintKeys: true`)
  // The key has no expiry, because the clocks of two machines may disagree about it. If the process dies before it
  // revokes the key, nobody knows the key.
  const minted = await call('mintKey', { params: { id }, body: { scopes: ['interests:write'] } }, options)
  // Without the signal: if the caller aborts, the key must not stay valid.
  const revoke = () => call('revokeKey', { params: { id, key_id: minted.id } }, { ...options, signal: undefined })
  try {
    await work(callWith(minted.key))
  } catch (error) {
    await revoke().catch(() => {})
    throw error
  }
  await revoke()
}

/**
 * Creates an interest. `old` is the interest with the same pattern and filter, if there is one: the two cannot exist at
 * once, so it has to be removed first. It is removed only when the service has found nothing else wrong with the new
 * one (a 400 comes before a 422), and is put back if the new one cannot be created after all.
 */
async function createOrReplace(
  own: Call,
  id: string,
  one: NewInterest,
  old: Interest | undefined,
  options: CallOptions,
): Promise<void> {
  const create = (body: NewInterest, how: CallOptions) =>
    nullIfRefused(own('createInterest', { params: { id }, body: interestOf(body) }, how), 422, 'interest_conflict')
  if (!old) return void (await create(one, options))
  // Any 422: at its quota, an agent is refused another interest before the conflict is found.
  const created = await nullIfRefused(create(one, options), 422)
  if (created) return
  try {
    await nullIfRefused(own('deleteInterest', { params: { id, interest_id: old.id } }, options), 404)
    await create(one, options)
  } catch (error) {
    const { event_type, filter_expression, priority, enrichment_depth } = old
    const again = { event_type, filter_expression, priority, enrichment_depth }
    await create(again, { ...options, signal: undefined }).catch(() => {})
    throw error
  }
}

async function ensureInterests(
  tools: EnsureTools,
  id: string,
  wanted: readonly NewInterest[],
  settings: EnsureSettings,
): Promise<Interest[]> {
  const { call } = tools
  const { options, keepOthers } = settings
  const list = async (): Promise<Interest[]> => (await call('listInterests', { params: { id } }, options)).interests
  const { missing, others } = difference(await list(), wanted, sameInterest)
  const replacedBy = (one: NewInterest) => others.find((other) => sameSubscription(other, one))
  const replaced = missing.map(replacedBy)
  if (missing.length > 0)
    await asAgent(tools, id, settings, async (own) => {
      for (const one of missing) await createOrReplace(own, id, one, replacedBy(one), options)
    })
  // Those that nothing replaces are removed last, so that no event falls between an old filter and a new one.
  if (!keepOthers)
    for (const other of others)
      if (!replaced.includes(other))
        await nullIfRefused(call('deleteInterest', { params: { id, interest_id: other.id } }, options), 404)
  const now = await list()
  return wanted.flatMap((one) => now.filter((interest) => sameInterest(interest, one)).slice(0, 1))
}

async function ensureFeeds(
  { call }: EnsureTools,
  id: string,
  wanted: readonly FeedCreate[],
  { options, keepOthers }: EnsureSettings,
): Promise<Feed[]> {
  const list = async (): Promise<Feed[]> => (await call('listFeeds', { params: { id } }, options)).feeds
  const { missing } = difference(await list(), wanted, sameFeed)
  for (const body of missing) await call('createFeed', { params: { id }, body }, options)
  // Nothing keeps several processes from creating the same feed at the same moment. Each of them looks again and keeps
  // the oldest, so that whoever looks last leaves one.
  const now = await list()
  const removed = difference(now, wanted, sameFeed).others.filter(
    (other) => !keepOthers || wanted.some((one) => sameFeed(other, one)),
  )
  for (const other of removed)
    await nullIfRefused(call('deleteFeed', { params: { id, feed_id: other.id } }, options), 404)
  const left = now.filter((feed) => !removed.includes(feed))
  return wanted.flatMap((one) => left.filter((feed) => sameFeed(feed, one)).slice(0, 1))
}

export async function ensure(
  tools: EnsureTools,
  description: Description,
  wished: EnsureOptions = {},
): Promise<Ensured> {
  refuseUnknownMembers(description, wished)
  const { agents = [], interests = [], channels = [], feeds = [] } = description
  const { mintKeys = false, keepOthers = false, ...given } = wished
  const { call } = tools
  // A caller without types may pass a key. With it, the second attempt to create an interest, after the old one was
  // removed, would get the recorded response of the first: the conflict.
  const options: CallOptions = { ...given, idempotencyKey: undefined }
  const settings: EnsureSettings = { mintKeys, keepOthers, options }
  const result: Ensured = { agents: {}, channels: {}, interests: [], feeds: [] }
  for (const body of agents) {
    const { external_id } = body
    result.agents[external_id] = await call('putAgent', { params: { external_id }, body }, options)
  }
  const agentId = (name: string): string => result.agents[name]?.id ?? name
  for (const { members = [], ...body } of channels) {
    const { external_id } = body
    const { id } = (result.channels[external_id] = await call('putChannel', { params: { external_id }, body }, options))
    for (const member of members) {
      const participant = { participant_type: 'agent' as const, participant_id: agentId(member) }
      await nullIfRefused(call('addMember', { params: { id }, body: participant }, options), 409)
    }
  }
  const own = await orAborted(tools.ownId(), options.signal)
  if (own === undefined && interests.some(({ agent }) => agent === undefined))
    throw new TypeError('An interest names no agent: use a key of the agent, or name it and set mintKeys: true')
  for (const [id, wanted] of grouped(interests, ({ agent }) => (agent === undefined ? own! : agentId(agent)))) {
    const described = wanted.map(({ agent: _, ...interest }) => interest as NewInterest)
    result.interests.push(...(await ensureInterests(tools, id, described, settings)))
  }
  for (const [id, wanted] of grouped(feeds, ({ channel }) => result.channels[channel]?.id ?? channel)) {
    const described = wanted.map(({ channel: _, ...feed }) => feed)
    result.feeds.push(...(await ensureFeeds(tools, id, described, settings)))
  }
  return result
}
