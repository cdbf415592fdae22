// A set that holds the most recently added ids, up to a limit.

export interface RecentIds {
  has(id: string): boolean
  add(id: string): void
}

export function makeRecentIds(most: number): RecentIds {
  const ids = new Set<string>()
  return {
    has: (id) => ids.has(id),
    add(id) {
      ids.delete(id)
      ids.add(id)
      if (ids.size > most) ids.delete(ids.values().next().value!)
    },
  }
}
