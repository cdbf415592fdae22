// The routing table of one tenant, in memory: which recipients does an event have?
//
// 1. Matching costs what matches. Patterns are found by exact type, by literal prefix or by literal suffix; only
//    patterns that start and end with a wildcard are tried one by one.
// 2. Equal patterns are tested once, and under each of them equal filters once, however many subscribe.
// 3. One match per recipient: the highest priority and the deepest enrichment of all that matched win.
// 4. It holds filters as text: match.ts evaluates them, filters.ts compiles what is needed.
import { compileGlob, type Glob } from './glob.ts'

export type EnrichmentDepth = 'none' | 'light' | 'full'

export interface Subscription {
  kind: 'interest' | 'feed'
  id: string
  glob: string
  filter: string | null
  priority: number
  enrichment: EnrichmentDepth
  /** An interest belongs to an agent, a feed to a channel. */
  agentId: string | null
  channelId: string | null
}

export interface Match {
  recipientId: string
  priority: number
  enrichment: EnrichmentDepth
  matched: Subscription[]
  /** The `recipient` of the event, an agent or a channel, if it was addressed to this receiver. */
  addressedAs?: string
}

/** Who receives an event. It may be that of all events of a type: nobody changes it. */
export interface Matching {
  readonly matches: ReadonlyMap<string, Match>
  /** The same in a row. */
  readonly list: readonly Match[]
  /** What it took to find out, in steps. */
  readonly steps: number
}

/** The subscriptions under one pattern that have the same filter. */
export interface FilterGroup {
  readonly filter: string | null
  /** The steps that its last evaluation took. */
  cost: number
  readonly subscriptions: Map<string, Subscription>
}

interface GlobGroup {
  readonly glob: Glob
  readonly byFilter: Map<string, FilterGroup>
}

const DEPTHS: readonly EnrichmentDepth[] = ['none', 'light', 'full']
export const deeper = (a: EnrichmentDepth, b: EnrichmentDepth): EnrichmentDepth =>
  DEPTHS.indexOf(a) >= DEPTHS.indexOf(b) ? a : b

/** Types whose recipients are remembered. */
const MAX_REMEMBERED = 1_000

/** Patterns by one end of the type: length of the literal → the literal → patterns. */
type EndIndex = Map<number, Map<string, Set<GlobGroup>>>

export class RoutingTable {
  /** The last change it holds: its number, and what tells it from another change of the same number. */
  version = 0
  stamp = ''
  /** The names that webhooks and connectors publish under; ids that begin with one are theirs. */
  sources: ReadonlySet<string> = new Set()
  readonly subscriptions = new Map<string, Subscription>()
  /** Channel → ids of its members, agents and org-admins alike. */
  readonly members = new Map<string, readonly string[]>()
  readonly inactive = new Set<string>()
  /** They receive what matches, but nothing may be handed to a poll of theirs. */
  readonly paused = new Set<string>()
  readonly #globs = new Map<string, GlobGroup>()
  readonly #exact = new Map<string, GlobGroup>()
  readonly #prefixes: EndIndex = new Map()
  readonly #suffixes: EndIndex = new Map()
  readonly #anywhere = new Set<GlobGroup>()
  /** By type, where no filter has a say; of the change that `#rememberedAt` names. */
  readonly #remembered = new Map<string, Matching>()
  #rememberedAt = ''

  get size(): number {
    return this.subscriptions.size
  }

  put(subscription: Subscription): void {
    this.remove(subscription.id)
    this.#remembered.clear()
    this.subscriptions.set(subscription.id, subscription)
    let group = this.#globs.get(subscription.glob)
    if (!group) {
      group = { glob: compileGlob(subscription.glob), byFilter: new Map() }
      this.#globs.set(subscription.glob, group)
      this.#place(group)
    }
    const key = subscription.filter ?? ''
    let filtered = group.byFilter.get(key)
    if (!filtered) {
      filtered = { filter: subscription.filter, cost: 0, subscriptions: new Map() }
      group.byFilter.set(key, filtered)
    }
    filtered.subscriptions.set(subscription.id, subscription)
  }

  remove(id: string): void {
    const subscription = this.subscriptions.get(id)
    if (!subscription) return
    this.subscriptions.delete(id)
    this.#remembered.clear()
    const group = this.#globs.get(subscription.glob)!
    const filtered = group.byFilter.get(subscription.filter ?? '')!
    filtered.subscriptions.delete(id)
    if (filtered.subscriptions.size > 0) return
    group.byFilter.delete(subscription.filter ?? '')
    if (group.byFilter.size > 0) return
    this.#globs.delete(subscription.glob)
    this.#displace(group)
  }

  /** Who receives events of this type, where their type alone decides that and it was found out before. */
  remembered(type: string): Matching | undefined {
    if (this.#rememberedAt === this.stamp) return this.#remembered.get(type)
    this.#remembered.clear()
    this.#rememberedAt = this.stamp
    return undefined
  }

  keepMatching(type: string, matching: Matching): void {
    if (this.#remembered.size >= MAX_REMEMBERED) this.#remembered.clear()
    this.#remembered.set(type, matching)
  }

  /** The groups whose pattern matches the type: their filters have to be asked. */
  candidates(type: string): FilterGroup[] {
    const groups: FilterGroup[] = []
    this.#eachMatchingGlob(type, ({ byFilter }) => {
      for (const group of byFilter.values()) groups.push(group)
    })
    return groups
  }

  /** The active ones of those that a subscription delivers to. */
  *recipientsOf(subscription: Subscription): Generator<string> {
    if (subscription.kind === 'interest') {
      if (!this.inactive.has(subscription.agentId!)) yield subscription.agentId!
    } else {
      for (const member of this.members.get(subscription.channelId!) ?? []) if (!this.inactive.has(member)) yield member
    }
  }

  #eachMatchingGlob(type: string, visit: (group: GlobGroup) => void): void {
    const exact = this.#exact.get(type)
    if (exact) visit(exact)
    for (const [length, byText] of this.#prefixes) {
      if (length <= type.length)
        for (const group of byText.get(type.slice(0, length)) ?? []) if (group.glob.matches(type)) visit(group)
    }
    for (const [length, byText] of this.#suffixes) {
      if (length <= type.length)
        for (const group of byText.get(type.slice(-length)) ?? []) if (group.glob.matches(type)) visit(group)
    }
    for (const group of this.#anywhere) if (group.glob.matches(type)) visit(group)
  }

  // The longer literal end is the better key.
  #endOf({ glob }: GlobGroup): [EndIndex, string] | null {
    if (glob.literalPrefix === '' && glob.literalSuffix === '') return null
    return glob.literalPrefix.length >= glob.literalSuffix.length
      ? [this.#prefixes, glob.literalPrefix]
      : [this.#suffixes, glob.literalSuffix]
  }

  #place(group: GlobGroup): void {
    if (group.glob.exact !== null) return void this.#exact.set(group.glob.exact, group)
    const end = this.#endOf(group)
    if (!end) return void this.#anywhere.add(group)
    const [index, text] = end
    let byText = index.get(text.length)
    if (!byText) index.set(text.length, (byText = new Map()))
    byText.set(text, (byText.get(text) ?? new Set()).add(group))
  }

  #displace(group: GlobGroup): void {
    if (group.glob.exact !== null) return void this.#exact.delete(group.glob.exact)
    const end = this.#endOf(group)
    if (!end) return void this.#anywhere.delete(group)
    const [index, text] = end
    const byText = index.get(text.length)!
    const groups = byText.get(text)!
    groups.delete(group)
    if (groups.size === 0) byText.delete(text)
    if (byText.size === 0) index.delete(text.length)
  }
}
