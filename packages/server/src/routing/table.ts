// The routing table of one tenant, in memory. It answers which recipients an event has.
//
// 1. The cost of matching is proportional to what matches. Patterns are found by exact type, by literal prefix or by
//    literal suffix; only patterns that start and end with a wildcard are tried one by one, in slices.
// 2. Equal patterns are tested once, and equal filters under one pattern once, however many subscriptions have them.
// 3. A recipient has one match, with the highest priority and the deepest enrichment of all matching subscriptions.
// 4. The table holds filters as text: evaluate.ts evaluates them, filters.ts compiles them when needed.
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
  /** Whose share of an event's budget the filter takes: for feeds that of all channels with the same creator. */
  payer?: string
}

export interface Match {
  recipientId: string
  priority: number
  enrichment: EnrichmentDepth
  matched: Subscription[]
  /** The `recipient` of the event, an agent or a channel, if it was addressed to this receiver. */
  addressedAs?: string
}

/** The recipients of an event. Never modified: all events of a type may share one object. */
export interface Matching {
  readonly matches: ReadonlyMap<string, Match>
  /** The same matches as a list. */
  readonly list: readonly Match[]
  /** How many steps the matching took. */
  readonly steps: number
}

/** The subscriptions under one pattern that have the same filter. */
export interface FilterGroup {
  readonly filter: string | null
  /** The steps that its last evaluation took. */
  cost: number
  /** The steps that compiling it takes; 0 if it was not compiled yet. */
  compiling: number
  readonly subscriptions: Map<string, Subscription>
}

interface GlobGroup {
  readonly glob: Glob
  readonly byFilter: Map<string, FilterGroup>
}

/** What a subscription takes beside its pattern and its filter. */
const SUBSCRIPTION_BYTES = 400
/** A pattern is kept as what it is made of: a class of three characters takes 140 bytes. */
const patternBytes = (pattern: string): number => 24 * pattern.length
/** The characters of a filter take two bytes each once one of them is not Latin. */
const filterBytes = (filter: string | null): number => 2 * (filter?.length ?? 0)

const DEPTHS: readonly EnrichmentDepth[] = ['none', 'light', 'full']
export const deeper = (a: EnrichmentDepth, b: EnrichmentDepth): EnrichmentDepth =>
  DEPTHS.indexOf(a) >= DEPTHS.indexOf(b) ? a : b

/** The most types whose recipients are cached, and the most recipients of all of them: 150 bytes each, or 8 MB. */
const MAX_REMEMBERED = 1_000
const MAX_RECIPIENTS = 50_000

/** Patterns by their literal prefix or suffix: length of the literal → the literal → patterns. */
type EndIndex = Map<number, Map<string, Set<GlobGroup>>>

export class RoutingTable {
  /** The last change that this table includes: its number, and a stamp that identifies it among equal numbers. */
  version = 0
  stamp = ''
  /** The names that webhooks and connectors publish under. Ids that begin with such a name are reserved for them. */
  sources: ReadonlySet<string> = new Set()
  readonly subscriptions = new Map<string, Subscription>()
  /** Channel → ids of its members, agents and org-admins alike. */
  readonly members = new Map<string, Set<string>>()
  readonly inactive = new Set<string>()
  /** Agents that receive deliveries, but whose polls must not be handed any. */
  readonly paused = new Set<string>()
  /** The steps for compiling filters that events of the tenant have left. A new table may fill the cache. */
  saved = Infinity
  readonly #globs = new Map<string, GlobGroup>()
  readonly #exact = new Map<string, GlobGroup>()
  readonly #prefixes: EndIndex = new Map()
  readonly #suffixes: EndIndex = new Map()
  readonly #anywhere = new Set<GlobGroup>()
  /** Recipients by type, where no filter is involved. Valid for the change with the stamp `#rememberedAt`. */
  readonly #remembered = new Map<string, Matching>()
  #rememberedAt = ''
  /** How many recipients the lists in `#remembered` have together. */
  #recipients = 0
  /** What patterns and filters take; equal ones are kept once. */
  #textBytes = 0

  /** Roughly how many bytes of memory the subscriptions take. */
  get bytes(): number {
    return this.subscriptions.size * SUBSCRIPTION_BYTES + this.#textBytes
  }

  put(subscription: Subscription): void {
    this.remove(subscription.id)
    this.#forget()
    this.subscriptions.set(subscription.id, subscription)
    let group = this.#globs.get(subscription.glob)
    if (!group) {
      group = { glob: compileGlob(subscription.glob), byFilter: new Map() }
      this.#globs.set(subscription.glob, group)
      this.#textBytes += patternBytes(subscription.glob)
      this.#place(group)
    }
    const key = subscription.filter ?? ''
    let filtered = group.byFilter.get(key)
    if (!filtered) {
      filtered = { filter: subscription.filter, cost: 0, compiling: 0, subscriptions: new Map() }
      group.byFilter.set(key, filtered)
      this.#textBytes += filterBytes(subscription.filter)
    }
    filtered.subscriptions.set(subscription.id, subscription)
  }

  remove(id: string): void {
    const subscription = this.subscriptions.get(id)
    if (!subscription) return
    this.subscriptions.delete(id)
    this.#forget()
    const group = this.#globs.get(subscription.glob)!
    const filtered = group.byFilter.get(subscription.filter ?? '')!
    filtered.subscriptions.delete(id)
    if (filtered.subscriptions.size > 0) return
    group.byFilter.delete(subscription.filter ?? '')
    this.#textBytes -= filterBytes(subscription.filter)
    if (group.byFilter.size > 0) return
    this.#globs.delete(subscription.glob)
    this.#textBytes -= patternBytes(subscription.glob)
    this.#displace(group)
  }

  /** Returns the cached recipients of events of this type, if the type alone decides and they were found before. */
  remembered(type: string): Matching | undefined {
    if (this.#rememberedAt === this.stamp) return this.#remembered.get(type)
    this.#forget()
    this.#rememberedAt = this.stamp
    return undefined
  }

  keepMatching(type: string, matching: Matching): void {
    const recipients = matching.list.length
    if (this.#remembered.size >= MAX_REMEMBERED || this.#recipients + recipients > MAX_RECIPIENTS) this.#forget()
    this.#recipients += recipients
    this.#remembered.set(type, matching)
  }

  #forget(): void {
    this.#remembered.clear()
    this.#recipients = 0
  }

  /**
   * Finds the groups whose pattern matches the type. Their filters are still to be evaluated. `took` is told the steps
   * that each pattern takes; where it returns true, a slice of work is done and this yields.
   */
  *candidates(type: string, took: (steps: number) => boolean): Generator<void, FilterGroup[]> {
    const found: FilterGroup[] = []
    for (const globs of this.#toTry(type)) {
      for (const { glob, byFilter } of globs) {
        const isMatch = glob.matches(type)
        if (isMatch) for (const group of byFilter.values()) found.push(group)
        if (took(isMatch ? glob.steps + byFilter.size : glob.steps)) yield
      }
    }
    return found
  }

  /** Returns the subscriptions that are evaluated together with this one, if the table still has it. */
  groupOf({ glob, filter }: Subscription): FilterGroup | undefined {
    return this.#globs.get(glob)?.byFilter.get(filter ?? '')
  }

  /** Reports whether the pattern of a subscription of this table matches the type. */
  matchesType(subscription: Subscription, type: string): boolean {
    return this.#globs.get(subscription.glob)!.glob.matches(type)
  }

  /** Yields the active recipients of a subscription. */
  *recipientsOf(subscription: Subscription): Generator<string> {
    if (subscription.kind === 'interest') {
      if (!this.inactive.has(subscription.agentId!)) yield subscription.agentId!
    } else {
      for (const member of this.members.get(subscription.channelId!) ?? []) if (!this.inactive.has(member)) yield member
    }
  }

  /** Returns the patterns that may match: the type itself, those with a literal end of the type, those without one. */
  #toTry(type: string): Iterable<GlobGroup>[] {
    const found: Iterable<GlobGroup>[] = []
    const exact = this.#exact.get(type)
    if (exact) found.push([exact])
    for (const [length, byText] of this.#prefixes) {
      const globs = length <= type.length ? byText.get(type.slice(0, length)) : undefined
      if (globs) found.push(globs)
    }
    for (const [length, byText] of this.#suffixes) {
      const globs = length <= type.length ? byText.get(type.slice(-length)) : undefined
      if (globs) found.push(globs)
    }
    found.push(this.#anywhere)
    return found
  }

  // The longer of the literal prefix and suffix is the better key.
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
