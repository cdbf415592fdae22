// A list that the contract does not page. Its rows are read a page at a time, as the client takes the response: the
// filters of ten thousand interests are 40 MB and more, and twenty such lists at once delayed all other requests by a
// second and a half and took most of a gigabyte.
import type { OperationResponse } from './response.ts'

/** With `isBrief`, responds with the first page only, because a response for a model is built in memory. */
export async function longList<Row>(
  name: string,
  pages: AsyncIterator<Row[]>,
  shown: (row: Row) => object,
  isBrief = false,
): Promise<OperationResponse> {
  const first = await pages.next()
  const rows = first.done ? [] : first.value
  const second = first.done || isBrief ? null : await pages.next()
  if (second === null || second.done) return { status: 200, json: { [name]: rows.map(shown) } }

  const text = (page: readonly Row[]): string => page.map((row) => JSON.stringify(shown(row))).join(',')
  async function* pieces(): AsyncGenerator<string> {
    yield `{"${name}":[${text(rows)}`
    for (let next = second!; !next.done; next = await pages.next())
      if (next.value.length > 0) yield `,${text(next.value)}`
    yield ']}'
  }
  return { status: 200, pieces: pieces() }
}
