// A queue in which nobody can starve anybody: tenants take turns, and inside a tenant its senders take turns.

interface Line<T> {
  items: T[]
  next: number
}

interface FairQueue<T> {
  readonly size: number
  push(tenant: string, sender: string, item: T): void
  /** Takes the item whose turn it is. Skips tenants that are left out. */
  next(isLeftOut?: (tenant: string) => boolean): T | undefined
  /**
   * Takes items in turn until `full` returns true for the last one taken, or `joins` returns false for the next one
   * after the first. Skips tenants that are left out.
   */
  take(full: (item: T) => boolean, isLeftOut?: (tenant: string) => boolean, joins?: (item: T) => boolean): T[]
  /** Whether an item of this tenant waits. */
  has(tenant: string): boolean
  /** Whether an item of a tenant that is not left out waits. */
  hasOther(isLeftOut: (tenant: string) => boolean): boolean
}

export function fairQueue<T>(): FairQueue<T> {
  // Maps keep the order of insertion: a tenant or sender that had its turn is put back at the end.
  const tenants = new Map<string, Map<string, Line<T>>>()
  let size = 0

  function next(isLeftOut?: (tenant: string) => boolean, isWanted?: (item: T) => boolean): T | undefined {
    for (const [tenant, senders] of tenants) {
      if (isLeftOut?.(tenant)) continue
      for (const [sender, line] of senders) {
        const item = line.items[line.next]!
        if (isWanted && !isWanted(item)) return undefined
        line.next++
        senders.delete(sender)
        if (line.next < line.items.length) senders.set(sender, line)
        tenants.delete(tenant)
        if (senders.size > 0) tenants.set(tenant, senders)
        size--
        return item
      }
    }
    return undefined
  }

  return {
    get size() {
      return size
    },
    push(tenant, sender, item) {
      let senders = tenants.get(tenant)
      if (!senders) tenants.set(tenant, (senders = new Map()))
      const line = senders.get(sender)
      if (!line) senders.set(sender, { items: [item], next: 0 })
      else {
        // Taken items are removed once they are half of the line, so that a long line is not copied for every item.
        if (line.next > 32 && line.next * 2 > line.items.length) {
          line.items = line.items.slice(line.next)
          line.next = 0
        }
        line.items.push(item)
      }
      size++
    },
    next,
    take(full, isLeftOut, joins) {
      const taken: T[] = []
      for (let item = next(isLeftOut); item !== undefined; item = next(isLeftOut, joins)) {
        taken.push(item)
        if (full(item)) break
      }
      return taken
    },
    has: (tenant) => tenants.has(tenant),
    hasOther(isLeftOut) {
      for (const tenant of tenants.keys()) if (!isLeftOut(tenant)) return true
      return false
    },
  }
}
