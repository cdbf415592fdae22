// Iterates over a paged list as one sequence.

const PAGE = 200

/**
 * Yields the items that each page has under the name `list`.
 *
 * Fetches the next page when the last item of the previous one was consumed. The caller may delete items while it
 * iterates: the list gets shorter, the next page begins that much earlier, and no item is skipped.
 */
export async function* eachOf<K extends string, T extends { id: string }>(
  list: K,
  fetchPage: (page: { offset: number; limit: number }) => Promise<{ [name in K]: readonly T[] } & { total: number }>,
): AsyncGenerator<T, void, undefined> {
  const seen = new Set<string>()
  let known = 0
  for (let offset = 0; ; ) {
    const { [list]: items, total } = await fetchPage({ offset, limit: PAGE })
    const removed = Math.min(offset, known - total)
    known = total
    if (removed > 0) {
      offset -= removed
      continue
    }
    for (const item of items) {
      if (seen.has(item.id)) continue
      seen.add(item.id)
      yield item
    }
    offset += items.length
    if (items.length === 0 || offset >= total) return
  }
}
