// Changes to the fields of a memory. Changing nothing writes nothing.
import type { MemoryUpdate, Static } from '@sensorium/contract'
import type { Principal } from '../auth/principal.ts'
import { msOrNull } from '../kernel/clock.ts'
import { expiryOf } from '../kernel/expiry.ts'
import { jsonText } from '../kernel/json-members.ts'
import type { Db } from '../store/db.ts'
import { holdMemory } from './get.ts'
import { inRow, withKnown, type MetadataColumns } from './long-metadata.ts'
import { storable, type MemoryTools } from './remember.ts'
import type { MemoryRow } from './sql.ts'
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

/** `kept` is its metadata if that was written ahead (prepare-texts.ts). */
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
