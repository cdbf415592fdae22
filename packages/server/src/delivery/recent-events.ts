// What the owner of a mailbox acknowledged last.
import { iso } from '../kernel/clock.ts'
import { memberTexts } from '../kernel/json-members.ts'
import { nextTurn, turnAfter } from '../kernel/step-turns.ts'
import type { Db } from '../store/db.ts'
import { readEnvelope, shortBytes, type Item } from './long-payloads.ts'
import { readRecent, type Mailbox, type RecentRow } from './sql.ts'

/** Characters of envelopes that are cut into their members before others have their turn. */
const CUT_IN_TURN = 65_536

const SHOWN_MEMBERS: ReadonlySet<string> = new Set(['type', 'source', 'subject', 'time', 'data', 'data_base64'])

/** Returns the events of the latest acknowledgements as JSON, last acknowledged first; a long one is read later. */
export async function recentEvents(db: Db, mailbox: Mailbox, limit: number): Promise<Item[]> {
  const rows = await readRecent(db, mailbox, shortBytes(db, limit), limit)
  async function readLong(row: RecentRow): Promise<string | undefined> {
    const text = await readEnvelope(db, mailbox.tenantId, row.event_id)
    return text === undefined ? undefined : recentJson(row, await memberTexts(text, SHOWN_MEMBERS, nextTurn))
  }
  const items: Item[] = []
  const pause = turnAfter(CUT_IN_TURN)
  for (const row of rows) {
    if (row.envelope === null) items.push(() => readLong(row))
    else items.push(recentJson(row, memberTexts(row.envelope, SHOWN_MEMBERS)))
    await pause(row.envelope?.length ?? 0)
  }
  return items
}

/** The parts of the envelope are the text that was received, as in a delivery. */
function recentJson(row: RecentRow, texts: ReadonlyMap<string, string>): string {
  const part = (name: string): string => `,"${name}":${texts.get(name) ?? 'null'}`
  const data = ['data', 'data_base64'].find((name) => texts.has(name))
  return (
    `{"event_id":${JSON.stringify(row.event_id)},"delivery_id":"${row.id}"${part('type')}${part('source')}` +
    `${part('subject')}${part('time')}${data === undefined ? '' : part(data)},"acknowledged_at":"${iso(row.acknowledged_at)}"}`
  )
}
