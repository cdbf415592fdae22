// Changes to the fields of a memory. Changing nothing writes nothing.
import { isId, type MemoryUpdate, type Static } from '@sensorium/contract'
import type { Principal } from '../auth/principal.ts'
import { jsonText } from '../kernel/json-members.ts'
import { one, type Db } from '../store/db.ts'
import { holdMemory } from './get.ts'
import { LONG } from './index/analyse.ts'
import { keepAhead, type KeepAheadTools } from './keep-ahead.ts'
import { inRow, withKnown, type MetadataColumns } from './long-metadata.ts'
import type { MemoryIndex } from './index/memory-index.ts'
import { expiryOf, msOrNull, storable, type MemoryTools } from './remember.ts'
import { mayAdminister } from './see.ts'
import { findSeenHead, type MemoryRow } from './sql.ts'
import { isSameVersion, timeOfChange } from './versions.ts'
import { writeChange } from './write-change.ts'

type Changes = Static<typeof MemoryUpdate>

/** Returns the fields that were sent, as columns. Only these: anything else in a body is ignored. */
function columnsOf(changes: Changes, kept: MetadataColumns | null, now: number): Partial<MemoryRow> {
  const { title, content, confidence, importance, metadata, expires_at, freshness_date } = changes
  return {
    ...(title === undefined ? {} : { title: storable(title) }),
    ...(content === undefined ? {} : { content: storable(content) }),
    ...(confidence === undefined ? {} : { confidence }),
    ...(importance === undefined ? {} : { importance }),
    ...(metadata === undefined ? {} : (kept ?? inRow(jsonText(metadata)))),
    ...(expires_at === undefined ? {} : { expires_at: expiryOf(expires_at, now) }),
    ...(freshness_date === undefined ? {} : { freshness_date: msOrNull(freshness_date) }),
  }
}

/** Writes long metadata ahead of the transaction that changes the memory, if the caller may change it. */
export async function keepChanged(
  tools: KeepAheadTools,
  principal: Principal,
  id: string,
  { metadata }: Changes,
): Promise<MetadataColumns | null> {
  if (metadata === undefined || !isId('memory', id)) return null
  const head = await findSeenHead(tools.store, principal, id, tools.now())
  return head && mayAdminister(principal, head) ? keepAhead(tools, principal, metadata) : null
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
  kept: MetadataColumns | null = null,
): Promise<MemoryRow> {
  const now = tools.now()
  const columns = columnsOf(changes, kept, now)
  const row = await holdMemory(tx, principal, id, now)
  const changed: MemoryRow = await withKnown(row, { ...row, ...columns, updated_at: timeOfChange(row, now) })
  if (isSameVersion(row, changed)) return row
  return writeChange(tx, tools, principal.id, row, changed, now)
}
