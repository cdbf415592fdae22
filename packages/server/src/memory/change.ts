// Changes to the fields of a memory. Changing nothing writes nothing.
import { isId, type MemoryUpdate, type Static } from '@sensorium/contract'
import type { Principal } from '../auth/principal.ts'
import { jsonText } from '../kernel/json-members.ts'
import { one, type Db } from '../store/db.ts'
import { holdMemory } from './get.ts'
import { LONG } from './index/analyse.ts'
import type { MemoryIndex } from './index/memory-index.ts'
import { expiryOf, msOrNull, storable, type MemoryTools } from './remember.ts'
import { mayAdminister } from './see.ts'
import { findSeenHead, type MemoryRow } from './sql.ts'
import { timeOfChange } from './versions.ts'
import { writeChange } from './write-change.ts'

type Changes = Static<typeof MemoryUpdate>

/** Returns the fields that were sent, as columns. Only these: anything else in a body is ignored. */
function columnsOf(changes: Changes, now: number): Partial<MemoryRow> {
  const { title, content, confidence, importance, metadata, expires_at, freshness_date } = changes
  return {
    ...(title === undefined ? {} : { title: storable(title) }),
    ...(content === undefined ? {} : { content: storable(content) }),
    ...(confidence === undefined ? {} : { confidence }),
    ...(importance === undefined ? {} : { importance }),
    ...(metadata === undefined ? {} : { metadata: jsonText(metadata) }),
    ...(expires_at === undefined ? {} : { expires_at: expiryOf(expires_at, now) }),
    ...(freshness_date === undefined ? {} : { freshness_date: msOrNull(freshness_date) }),
  }
}

/**
 * Analyses the texts of a memory before the transaction that changes it. They are indexed together: with one of them
 * comes the other that the memory has.
 */
export async function analyseChange(
  db: Db,
  { now, index }: { now(): number; index: Pick<MemoryIndex, 'analyseAhead'> },
  principal: Principal,
  id: string,
  { title, content }: Changes,
): Promise<void> {
  const sent = title ?? content
  if (sent === undefined || !isId('memory', id)) return
  if (title !== undefined && content !== undefined) return index.analyseAhead(principal, title, content)
  // The texts of a memory, unless they have fewer bytes than a long text has characters.
  const kept = await one<Pick<MemoryRow, 'title' | 'content'>>(
    db,
    'select title, content from memories where tenant_id = ? and id = ? and octet_length(title) + octet_length(content) >= ?',
    [principal.tenantId, id, Math.max(0, LONG - sent.length)],
  )
  if (!kept || storable(sent) === (title === undefined ? kept.content : kept.title)) return
  const head = await findSeenHead(db, principal, id, now())
  if (!head || !mayAdminister(principal, head)) return // changeMemory refuses it
  await index.analyseAhead(principal, title ?? kept.title, content ?? kept.content)
}

export async function changeMemory(
  tx: Db,
  tools: Pick<MemoryTools, 'now' | 'index' | 'quotas'>,
  principal: Principal,
  id: string,
  changes: Changes,
): Promise<MemoryRow> {
  const now = tools.now()
  const columns = columnsOf(changes, now)
  const row = await holdMemory(tx, principal, id, now)
  const fields = Object.entries(columns).filter(([name, value]) => row[name as keyof MemoryRow] !== value)
  if (fields.length === 0) return row
  const changed: MemoryRow = { ...row, ...Object.fromEntries(fields), updated_at: timeOfChange(row, now) }
  return writeChange(tx, tools, principal.id, row, changed, now)
}
