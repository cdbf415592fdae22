// Payloads in lists. An envelope may have a megabyte, and a list a hundred envelopes. So long payloads are left out
// when the rows are read, and are read one at a time when the response gets to them.
import type { JsonBody } from '../kernel/json-body.ts'
import { SHORT_LENGTH, WHOLE_LENGTH } from '../kernel/lengths.ts'
import { one, type Db } from '../store/db.ts'

/**
 * What a list reads at once from a database server instead of WHOLE_LENGTH: a megabyte takes 2 ms of the event loop,
 * and each text that is read alone a round trip.
 */
const FAR_LIST_BYTES = 4_194_304

/** Returns how long a text is at most that a list of up to `limit` items reads together with the others. */
export const shortBytes = ({ isShared }: Db, limit: number): number =>
  Math.min(SHORT_LENGTH, Math.floor((isShared ? FAR_LIST_BYTES : WHOLE_LENGTH) / limit))

/** Selects a text column if it has at most the number of bytes that is bound, otherwise null. */
export const shortText = (column: string): string => `case when octet_length(${column}) <= ? then ${column} end`

/**
 * Reads the envelope of one event; undefined if its retention has ended meanwhile. It does not use `lookUp`: a megabyte
 * sent by PostgreSQL would delay everybody's look-ups.
 */
export async function readEnvelope(db: Db, tenantId: string, eventId: string): Promise<string | undefined> {
  const row = await one<{ envelope: string | null }>(
    db,
    `select ${db.dialect.longText('envelope', 'envelope')} from events where tenant_id = ? and id = ?`,
    [tenantId, eventId],
  )
  return row?.envelope ?? undefined
}

/** The same, to be sent as it is. */
export async function readSentEnvelope(
  db: Db,
  tenantId: string,
  eventId: string,
): Promise<string | Uint8Array | undefined> {
  const row = await one<{ envelope: string | Uint8Array | null }>(
    db,
    `select ${db.dialect.sentText('envelope', 'envelope')} from events where tenant_id = ? and id = ?`,
    [tenantId, eventId],
  )
  return row?.envelope ?? undefined
}

/** An item of a response: its text, or a function that reads it when its turn comes. */
export type Item = string | (() => Promise<string | undefined>)

/**
 * Builds the body of a list, in pieces if it is long or an item has to be read. `close` is told how many items it has.
 */
export function listBody(open: string, items: readonly Item[], close: (count: number) => string): JsonBody {
  let length = 0
  for (const item of items) length += typeof item === 'string' ? item.length : Infinity
  if (length <= WHOLE_LENGTH) return { text: `${open}${items.join(',')}${close(items.length)}` }
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
