// Lists, page by page, as one sequence.

const PAGE = 200

/** Asks for the next page when the last item of the one before was taken. */
export async function* eachOf<T>(
  fetchPage: (page: { offset: number; limit: number }) => Promise<{ items: readonly T[]; total: number }>,
): AsyncGenerator<T, void, undefined> {
  for (let offset = 0; ; ) {
    const { items, total } = await fetchPage({ offset, limit: PAGE })
    yield* items
    offset += items.length
    if (items.length === 0 || offset >= total) return
  }
}
