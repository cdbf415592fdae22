// Imports a line that is a memory. The line becomes the first of these that exists:
//
// 1. the live memory with its id, if the caller may change it; one that the caller only sees is skipped,
// 2. the live memory that a line with this id became in an earlier import, or, without an id, a line that
//    said the same,
// 3. the caller's own live memory with its external id; an org-admin's line whose id names a deleted memory means the
//    memory of that one's owner,
// 4. the memory of 1 or 2 that was deleted or has expired meanwhile: it comes back under the id it had,
// 5. a new memory of the caller.
//
// The id comes first, because an external id is unique for its owner only: a line of another owner, which the caller
// saw, may have the external id of a memory of the caller. For lines whose id names nothing that the caller knows here,
// line-owner.ts decides whether 2 and 3 may take them; a live memory that may not is a conflict of that line. It never
// looks at memories that the caller does not see, so the outcome does not tell whether there is one.
//
// A scope only widens. A memory of 1, 2 or 4 may have been promoted here, and keeps the wider one. One of 3 may be
// about something else, so a text that is not for all its readers is refused, as a put refuses it. The external id of a
// memory never changes.
import { isId } from '@sensorium/contract'
import type { Principal } from '../../auth/principal.ts'
import { taken } from '../../kernel/failure.ts'
import type { Db } from '../../store/db.ts'
import { expire } from '../expire.ts'
import { withKnown, type MetadataColumns } from '../long-metadata.ts'
import { compareAudience, requireWider } from '../promote.ts'
import { keepNew, newMemory, type MemoryTools } from '../remember.ts'
import { isLive, mayAdminister, maySee } from '../see.ts'
import { lockByExternalId, type MemoryRow } from '../sql.ts'
import { isSameVersion, timeOfChange } from '../versions.ts'
import { writeChange } from '../write-change.ts'
import { isOfAnother, isOwnerNote, ownerNote, type ImportedMemory, type WayFound } from './line-owner.ts'
import { importedAs, lockMemory, noteImport, notesOf } from './sql.ts'

/**
 * The ids of lines that are noted for one memory, so that relationships find it by them. Without a limit, lines with
 * one external id and many ids would fill the store and count as nothing.
 */
const MAX_ORIGINS = 16

export type ImportOutcome = 'created' | 'updated' | 'skipped'

interface FoundMemory {
  row: MemoryRow
  by: WayFound
}

/**
 * Returns the memory that the line becomes; 'seen' for one that the caller may not change. `line` is its row if new.
 */
async function find(
  tx: Db,
  principal: Principal,
  id: string | undefined,
  origin: string,
  line: MemoryRow,
): Promise<FoundMemory | 'seen' | null> {
  const { tenant_id, external_id, accessed_at: now } = line
  const here = id !== undefined && isId('memory', id) ? await lockMemory(tx, tenant_id, id) : undefined
  const isOwn = here !== undefined && mayAdminister(principal, here)
  if (here && !isOwn && maySee(principal, here, now)) return 'seen'
  const known: FoundMemory | null = isOwn ? { row: here, by: 'id' } : await findImported(tx, principal, origin)
  if (external_id === null || (known && isLive(known.row, now))) return known
  const owner = { tenantId: tenant_id, id: isOwn ? here.agent_id : principal.id }
  const named = await lockByExternalId(tx, owner, external_id)
  return named && isLive(named, now) ? { row: named, by: isOwn ? 'successor' : 'external id' } : known
}

async function findImported(tx: Db, principal: Principal, origin: string): Promise<FoundMemory | null> {
  const imported = await importedAs(tx, principal, origin)
  const row = imported === undefined ? undefined : await lockMemory(tx, principal.tenantId, imported)
  return row ? { row, by: 'import' } : null
}

/** Of two concurrent imports of one line, the second waits here for the first and finds the memory it made. */
async function findMadeMeanwhile(tx: Db, principal: Principal, origin: string): Promise<FoundMemory | null> {
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
  { row: found, by }: FoundMemory,
  wanted: MemoryRow,
): Promise<ImportOutcome> {
  const now = wanted.accessed_at
  const wasLive = isLive(found, now)
  const place = compareAudience(found, wanted) === 'refused' ? { scope: found.scope, team_id: found.team_id } : {}
  const { tenant_id, id, agent_id, external_id, created_at, accessed_at } = found
  const fixed = { tenant_id, id, agent_id, external_id, created_at, accessed_at }
  const updated_at = timeOfChange(found, now)
  const memory = await withKnown<MemoryRow>(found, { ...wanted, ...place, ...fixed, updated_at })
  if (wasLive && isSameVersion(found, memory)) return 'skipped'
  if (by === 'external id' || by === 'successor') requireWider(found, wanted)
  if (!wasLive) await takeExternalIdBack(tx, tools, found, now)
  if (!wasLive) await tools.quotas.makeRoom(tx, tenant_id, 'memories')
  await writeChange(tx, tools, principal.id, found, memory, now)
  return 'updated'
}

/** Changes the memory to what the line says. Null if it is gone and was another owner's; throws if that one lives. */
async function become(
  tx: Db,
  tools: MemoryTools,
  principal: Principal,
  found: FoundMemory,
  wanted: ImportedMemory,
  origin: string,
  line: MemoryRow,
): Promise<ImportOutcome | null> {
  const { row, by } = found
  if (by === 'id') return change(tx, tools, principal, found, line)
  const notes = await notesOf(tx, principal, row.id)
  if (isOfAnother(principal, wanted, found, notes)) {
    if (isLive(row, line.accessed_at)) throw taken('This external id', row.id)
    return null
  }
  const outcome = await change(tx, tools, principal, found, line)
  const owner = by === 'successor' ? null : ownerNote(principal, wanted, row)
  const isOtherId = by !== 'import' && wanted.id !== undefined && row.id !== wanted.id
  // A line that changed nothing may be for fewer readers. By a note of its id, a later text of it would reach them all.
  const isForAll = compareAudience(row, line) !== 'refused'
  if (isOtherId && isForAll && notes.filter((note) => !isOwnerNote(row, note)).length < MAX_ORIGINS)
    await noteImport(tx, principal, origin, row.id)
  if (owner !== null && !notes.includes(owner)) await noteImport(tx, principal, owner, row.id)
  return outcome
}

/** `origin` is the key of the line (origin.ts), `kept` its metadata if that was written ahead. */
export async function importMemory(
  tx: Db,
  tools: MemoryTools,
  principal: Principal,
  wanted: ImportedMemory,
  origin: string,
  kept: MetadataColumns | null = null,
): Promise<ImportOutcome> {
  const now = tools.now()
  const row = newMemory(principal, tools.makeId, now, wanted, kept)
  const found = (await find(tx, principal, wanted.id, origin, row)) ?? (await findMadeMeanwhile(tx, principal, origin))
  if (found === 'seen') return 'skipped'
  const outcome = found && (await become(tx, tools, principal, found, wanted, origin, row))
  if (outcome) return outcome
  const created_at = madeAt(wanted.created_at, now)
  const made = { ...row, created_at, updated_at: Math.max(created_at, madeAt(wanted.updated_at, now)) }
  const holder = await keepNew(tx, tools, principal, made, now)
  // A live memory, so the line becomes it or is refused.
  if (holder) return (await become(tx, tools, principal, { row: holder, by: 'external id' }, wanted, origin, row))!
  await noteImport(tx, principal, origin, made.id)
  const owner = ownerNote(principal, wanted, made)
  if (owner !== null) await noteImport(tx, principal, owner, made.id)
  return 'created'
}
