// Reads all rows of a list a page at a time, however many there are.
import { nextTurn } from './step-turns.ts'

export const PAGE = 100

/**
 * Yields rows in pages, as they are asked for, with a turn for other requests in between. `read` returns up to `most`
 * rows in the order of the list that follow the row `last`.
 */
export async function* pagesOf<Row>(
  read: (last: Row | null, most: number) => Promise<Row[]>,
  most = PAGE,
): AsyncGenerator<Row[]> {
  for (let last: Row | null = null; ; await nextTurn()) {
    const page: Row[] = await read(last, most)
    if (page.length > 0) yield page
    if (page.length < most) return
    last = page.at(-1)!
  }
}
