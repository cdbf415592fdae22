// Payloads in lists. An envelope may have a megabyte, and a list a hundred envelopes. So long payloads are left out
// when the rows are read, and are read one at a time when the response gets to them.
import { one, type Db } from '../store/db.ts'

/** A longer text is read alone. A list of 200 short ones has 6 MB. */
export const SHORT_BYTES = 32_768

/** Selects a text column if it is short, otherwise null. */
export const shortText = (column: string): string =>
  `case when octet_length(${column}) <= ${SHORT_BYTES} then ${column} end`

/**
 * Reads the envelope of one event; undefined if its retention has ended meanwhile. It does not use `lookUp`: a megabyte
 * sent by PostgreSQL would delay everybody's look-ups.
 */
export async function readEnvelope(db: Db, tenantId: string, eventId: string): Promise<string | undefined> {
  const row = await one<{ envelope: string | null }>(db, 'select envelope from events where tenant_id = ? and id = ?', [
    tenantId,
    eventId,
  ])
  return row?.envelope ?? undefined
}

/** An item of a response: its text, or a function that reads it when its turn comes. */
export type Item = string | (() => Promise<string | undefined>)

export type JsonBody = { text: string } | { pieces: AsyncIterable<string> }

/** Builds the body of a list, in pieces if an item has to be read. `close` is called with the number of items. */
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
