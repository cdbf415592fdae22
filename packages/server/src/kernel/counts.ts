// Counts by name. A name without any left is forgotten, so that the map grows with what is under way and not with all
// names ever seen.

export function makeCounts() {
  const counts = new Map<string, number>()
  return {
    keys: (): string[] => [...counts.keys()],
    has: (name: string): boolean => counts.has(name),
    of: (name: string): number => counts.get(name) ?? 0,
    add(name: string, by: number): void {
      const count = (counts.get(name) ?? 0) + by
      if (count > 0) counts.set(name, count)
      else counts.delete(name)
    },
  }
}
