// Restores a memory to an older version. This is a change like any other, and makes the newest version. Who sees the
// memory stays the same, because a scope only widens. An expiry that has passed meanwhile is not restored.
import type { Principal } from '../auth/principal.ts'
import { notFound } from '../kernel/failure.ts'
import type { Db } from '../store/db.ts'
import { holdMemory, requireHead } from './get.ts'
import { NOTHING_AHEAD, type Ahead } from './index/analyse.ts'
import type { MemoryIndex } from './index/memory-index.ts'
import type { WaitingPrincipal } from './prepare-texts.ts'
import type { MemoryTools } from './remember.ts'
import { mayAdminister } from './see.ts'
import type { MemoryRow } from './sql.ts'
import { isSameVersion, readVersions, textsOfVersion, timeOfChange } from './versions.ts'
import { writeChange } from './write-change.ts'

/** Analyses the texts of a version before the transaction that restores it. */
export async function analyseVersion(
  db: Db,
  { now, index }: { now(): number; index: Pick<MemoryIndex, 'analyseAhead'> },
  principal: WaitingPrincipal,
  id: string,
  version: number,
): Promise<Ahead> {
  const head = await requireHead(db, principal, id, now())
  if (!mayAdminister(principal, head)) return NOTHING_AHEAD // restoreMemory refuses it
  const texts = await textsOfVersion(db, head, version)
  return texts ? index.analyseAhead(principal, texts.title, texts.content) : NOTHING_AHEAD
}

export async function restoreMemory(
  tx: Db,
  tools: Pick<MemoryTools, 'now' | 'index' | 'quotas'>,
  principal: Principal,
  id: string,
  version: number,
): Promise<MemoryRow> {
  const now = tools.now()
  const row = await holdMemory(tx, principal, id, now)
  const wanted = (await readVersions(tx, row)).find((kept) => kept.version === version)
  if (!wanted) throw notFound('memory_version', String(version))
  const { scope: _, team_id: __, expires_at, ...fields } = wanted.state
  const hasPassed = expires_at !== null && expires_at <= now
  const as = { ...fields, expires_at: hasPassed ? row.expires_at : expires_at }
  const restored: MemoryRow = { ...row, ...as, updated_at: timeOfChange(row, now) }
  if (isSameVersion(restored, row)) return row
  return writeChange(tx, tools, principal.id, row, restored, now)
}
