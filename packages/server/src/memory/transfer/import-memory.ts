// Imports a line that is a memory. The line becomes the first of these that exists:
//
// 1. the caller's own memory with the same external id,
// 2. the memory with its id, if the caller may change it; one that the caller only sees is skipped,
// 3. the memory that a line with this id became in an earlier import, or, without an id, a line that said the same,
// 4. a new memory of the caller.
//
// A memory that was deleted or has expired meanwhile comes back under the id it had. A scope only widens: a wider one
// stays.
import { isId, type MemoryLine, type Static } from '@sensorium/contract'
import type { Principal } from '../../auth/principal.ts'
import { taken } from '../../kernel/failure.ts'
import type { Db } from '../../store/db.ts'
import { expire } from '../expire.ts'
import { compareAudience } from '../promote.ts'
import { keepNew, newMemory, type MemoryTools } from '../remember.ts'
import { isLive, mayAdminister, maySee } from '../see.ts'
import { lockByExternalId, type MemoryRow } from '../sql.ts'
import { timeOfChange, VERSIONED } from '../versions.ts'
import { writeChange } from '../write-change.ts'
import { importedAs, lockMemory, notedImports, noteImport } from './sql.ts'

/**
 * The ids of lines that are noted for one memory, so that relationships find it by them. Without a limit, lines with one
 * external id and many ids would fill the store and count as nothing.
 */
const MAX_ORIGINS = 16

export type ImportOutcome = 'created' | 'updated' | 'skipped'

type ImportedMemory = Static<typeof MemoryLine>

type Found = { row: MemoryRow; by: 'external id' | 'id' | 'import' } | 'seen' | null

async function find(tx: Db, principal: Principal, wanted: ImportedMemory, origin: string, now: number): Promise<Found> {
  const { id, external_id } = wanted
  const named = external_id === undefined ? undefined : await lockByExternalId(tx, principal, external_id)
  if (named) return { row: named, by: 'external id' }
  if (id !== undefined && isId('memory', id)) {
    const row = await lockMemory(tx, principal.tenantId, id)
    if (row && mayAdminister(principal, row)) return { row, by: 'id' }
    if (row && maySee(principal, row, now)) return 'seen'
  }
  return findImported(tx, principal, origin)
}

async function findImported(tx: Db, principal: Principal, origin: string): Promise<Found> {
  const imported = await importedAs(tx, principal, origin)
  const row = imported === undefined ? undefined : await lockMemory(tx, principal.tenantId, imported)
  return row ? { row, by: 'import' } : null
}

/** Of two concurrent imports of one line, the second waits here for the first and finds the memory it made. */
async function findMadeMeanwhile(tx: Db, principal: Principal, origin: string): Promise<Found> {
  if (!tx.isShared) return null
  void tx.lock([`import ${principal.tenantId} ${principal.id} ${origin}`], 'exclusive')
  return findImported(tx, principal, origin)
}

/** Returns a time of a new memory by its line, or `otherwise`, which is now; never later than that. */
const madeAt = (time: string | undefined, otherwise: number): number =>
  time === undefined ? otherwise : Math.min(Date.parse(time), otherwise)

/** A memory that comes back needs its external id. Throws if another live memory of its owner has it by now. */
async function takeExternalIdBack(tx: Db, { index }: MemoryTools, gone: MemoryRow, now: number): Promise<void> {
  if (gone.external_id === null) return
  const holder = await lockByExternalId(tx, { tenantId: gone.tenant_id, id: gone.agent_id }, gone.external_id)
  if (!holder || holder.id === gone.id) return
  if (isLive(holder, now)) throw taken('This external id', holder.id)
  await expire(tx, index, holder)
}

async function change(
  tx: Db,
  tools: MemoryTools,
  principal: Principal,
  found: MemoryRow,
  wanted: MemoryRow,
): Promise<ImportOutcome> {
  const now = wanted.accessed_at
  const wasLive = isLive(found, now)
  const place = compareAudience(found, wanted) === 'refused' ? { scope: found.scope, team_id: found.team_id } : {}
  const { tenant_id, id, agent_id, external_id, created_at, accessed_at } = found
  const fixed = { tenant_id, id, agent_id, external_id, created_at, accessed_at }
  const memory: MemoryRow = { ...wanted, ...place, ...fixed, updated_at: timeOfChange(found, now) }
  if (wasLive && VERSIONED.every((name) => found[name] === memory[name])) return 'skipped'
  if (!wasLive) await takeExternalIdBack(tx, tools, found, now)
  if (!wasLive) await tools.quotas.makeRoom(tx, tenant_id, 'memories')
  await writeChange(tx, tools, principal.id, found, memory, now)
  return 'updated'
}

/** `origin` is the key of the line (origin.ts). */
export async function importMemory(
  tx: Db,
  tools: MemoryTools,
  principal: Principal,
  wanted: ImportedMemory,
  origin: string,
): Promise<ImportOutcome> {
  const now = tools.now()
  const row = newMemory(principal, tools.makeId, now, wanted)
  const found = (await find(tx, principal, wanted, origin, now)) ?? (await findMadeMeanwhile(tx, principal, origin))
  if (found === 'seen') return 'skipped'
  if (found) {
    const outcome = await change(tx, tools, principal, found.row, row)
    const isOtherId = found.by === 'external id' && wanted.id !== undefined && found.row.id !== wanted.id
    if (isOtherId && (await notedImports(tx, principal, found.row.id)) < MAX_ORIGINS)
      await noteImport(tx, principal, origin, found.row.id)
    return outcome
  }
  const created_at = madeAt(wanted.created_at, now)
  const made = { ...row, created_at, updated_at: Math.max(created_at, madeAt(wanted.updated_at, now)) }
  const holder = await keepNew(tx, tools, principal, made, now)
  await noteImport(tx, principal, origin, (holder ?? made).id)
  return holder ? change(tx, tools, principal, holder, row) : 'created'
}
