// Reads all rows of a list a page at a time, however many there are.
import { nextTurn } from './step-turns.ts'

export const PAGE = 100

/**
 * Yields rows in pages, as they are asked for, with a turn for other requests in between. `read` returns up to `most`
 * rows in the order of the list that follow the row `last`. `next` returns how many the next page may have.
 */
export async function* pagesOf<Row>(
  read: (last: Row | null, most: number) => Promise<Row[]>,
  most = PAGE,
  next: (page: readonly Row[]) => number = () => most,
): AsyncGenerator<Row[]> {
  for (let last: Row | null = null, size = most; ; await nextTurn()) {
    const page: Row[] = await read(last, size)
    if (page.length > 0) yield page
    if (page.length < size) return
    last = page.at(-1)!
    size = next(page)
  }
}
