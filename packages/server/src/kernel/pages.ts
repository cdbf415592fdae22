// Reads rows a page at a time, for a list that the contract does not page.
import { nextTurn } from './step-turns.ts'

export const PAGE = 100

/**
 * Yields rows in pages, as they are asked for, with a turn for other requests in between. `read` returns up to `most`
 * rows in the order of the list that follow the row with the id `last`.
 */
export async function* pagesOf<Row extends { id: string }>(
  read: (last: string | null, most: number) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  for (let last: string | null = null; ; await nextTurn()) {
    const page: Row[] = await read(last, PAGE)
    if (page.length > 0) yield page
    if (page.length < PAGE) return
    last = page.at(-1)!.id
  }
}
