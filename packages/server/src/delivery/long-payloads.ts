// Payloads in lists. An envelope may have a megabyte and a list a hundred of them: what is long is left out when the
// rows are read, and read one at a time when the response has come to it.
import { one, type Db } from '../store/db.ts'

/** What is longer than this is read alone. A list of 200 short ones has 6 MB. */
export const SHORT_BYTES = 32_768

/** A text of a row where it is short, else null. */
export const shortText = (column: string): string =>
  `case when octet_length(${column}) <= ${SHORT_BYTES} then ${column} end`

/**
 * The envelope of one event; undefined where its retention has ended meanwhile. It is no look-up: behind a megabyte that
 * PostgreSQL sends, everybody's look-ups would wait.
 */
export async function readEnvelope(db: Db, tenantId: string, eventId: string): Promise<string | undefined> {
  const row = await one<{ envelope: string | null }>(db, 'select envelope from events where tenant_id = ? and id = ?', [
    tenantId,
    eventId,
  ])
  return row?.envelope ?? undefined
}

/** The items of a response that are there, and those that are read when their turn comes. */
export type Item = string | (() => Promise<string | undefined>)

export type JsonBody = { text: string } | { pieces: AsyncIterable<string> }

/** The body of a list: whole where all of it is there, else in pieces. `close` is given how many items there were. */
export function listBody(open: string, items: readonly Item[], close: (count: number) => string): JsonBody {
  if (items.every((item) => typeof item === 'string'))
    return { text: `${open}${items.join(',')}${close(items.length)}` }
  return { pieces: piecesOf(open, items, close) }
}

async function* piecesOf(
  open: string,
  items: readonly Item[],
  close: (count: number) => string,
): AsyncGenerator<string> {
  yield open
  let count = 0
  for (const item of items) {
    const json = typeof item === 'string' ? item : await item()
    if (json === undefined) continue
    yield count++ === 0 ? json : `,${json}`
  }
  yield close(count)
}
