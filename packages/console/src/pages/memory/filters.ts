// The filters of the page, as they are in the address and as the service takes them. An invalid value is ignored,
// because an address may be typed by hand.
import type { Memory, MemorySearch, Operations } from '@sensorium/client'

export const FILTERS = ['q', 'scope', 'type', 'project', 'after', 'before', 'status'] as const
export type Filters = { readonly [name in (typeof FILTERS)[number]]?: string }

export const SCOPES = ['agent', 'team', 'institutional'] as const satisfies readonly Memory['scope'][]
export const TYPES = [
  'episodic',
  'semantic',
  'procedural',
  'entity',
  'reflection',
  'reasoning',
] as const satisfies readonly Memory['type'][]
export const STATUSES = ['active', 'deleted', 'expired'] as const satisfies readonly Memory['status'][]

/** Results of a search: more than anybody reads, and the most that the service returns at once. */
const MOST_RESULTS = 50

const oneOf = <T extends string>(values: readonly T[], text: string | undefined): T | undefined =>
  values.find((value) => value === text)

/** Returns the start, in local time, of the day that is `days` after the given one. */
export function dayOf(text: string | undefined, days = 0): string | undefined {
  if (text === undefined || !/^\d{4}-\d\d-\d\d$/.test(text)) return undefined
  const at = new Date(`${text}T00:00:00`)
  // By the calendar: a day on which clocks change has 23 or 25 hours.
  at.setDate(at.getDate() + days)
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString()
}

const withoutUndefined = <T extends object>(values: T): T =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T

function common({ scope, type, project, after, before }: Filters) {
  return {
    scope: oneOf(SCOPES, scope),
    type: oneOf(TYPES, type),
    project_id: project,
    created_after: dayOf(after),
    // The named day is included.
    created_before: dayOf(before, 1),
  }
}

export const listQuery = (filters: Filters): Operations['listMemories']['query'] =>
  withoutUndefined({
    ...common(filters),
    status: oneOf(STATUSES, filters.status),
  }) as Operations['listMemories']['query']

export const searchBody = (query: string, filters: Filters): MemorySearch =>
  withoutUndefined({ query, ...common(filters), limit: MOST_RESULTS, explain: true }) as MemorySearch

export const isFiltered = ({ scope, type, project, after, before, status }: Filters): boolean =>
  [scope, type, project, after, before, status].some((value) => value !== undefined)
