// Creates a memory of the caller.
//
// 1. The owner is the caller; nothing in the body says otherwise.
// 2. The memory, its index entries and its count commit together: it is found by its words right after its 201.
// 3. A memory has a team while its scope is `team`, and none otherwise: a private memory is for its owner alone and an
//    institutional one for everybody, so a team there would only suggest a limit that does not hold. A team that is
//    sent with such a scope is dropped.
import { DEFAULT_CONFIDENCE, DEFAULT_IMPORTANCE, type MemoryCreate, type Static } from '@sensorium/contract'
import type { Principal } from '../auth/principal.ts'
import { msOrNull } from '../kernel/clock.ts'
import { expiryOf } from '../kernel/expiry.ts'
import { Failure, invalid, onlyFailure, taken } from '../kernel/failure.ts'
import type { MakeId } from '../kernel/ids.ts'
import { jsonTextOrBytes, jsonText } from '../kernel/json-members.ts'
import type { Quotas } from '../tenants/quotas.ts'
import type { Db } from '../store/db.ts'
import { meter, STORED_BYTES } from '../tenants/usage.ts'
import type { MemoryIndex, ReadyVectors } from './index/memory-index.ts'
import { expire } from './expire.ts'
import { inRow, placeMetadata, type MetadataColumns } from './long-metadata.ts'
import { isLive } from './see.ts'
import { insertMemory, lockByExternalId, saveMemory, type MemoryRow, type WrittenMemory } from './sql.ts'
import { storedBytes } from './stored-bytes.ts'

type NewMemory = Static<typeof MemoryCreate>

export interface MemoryTools {
  quotas: Quotas
  makeId: MakeId
  now(): number
  index: Pick<MemoryIndex, 'put' | 'remove'>
}

// Half a surrogate pair has no UTF-8: stored, it would be read back as another text than the response had.
export const storable = (text: string): string => text.toWellFormed()
const storableOrNull = (text: string | null | undefined): string | null => (text ?? null)?.toWellFormed() ?? null

function teamOf(principal: Principal, { scope, team_id }: NewMemory): string | null {
  if (scope !== 'team') return null
  const team = team_id ?? principal.teamId
  if (team === null) {
    throw invalid({
      field: 'team_id',
      value: team_id,
      expected: 'the team of a memory with scope team: the token has none (required)',
      example: 'team-blue',
    })
  }
  return team
}

/** Returns the row of a new memory of the caller. `kept` is its metadata if that was written ahead. */
export const newMemory = (
  principal: Principal,
  makeId: MakeId,
  at: number,
  wanted: NewMemory,
  kept: MetadataColumns | null = null,
): MemoryRow => withMetadata(principal, makeId, at, wanted, kept ?? inRow(jsonText(wanted.metadata ?? {})))

function withMetadata<M extends Pick<WrittenMemory, keyof MetadataColumns>>(
  principal: Principal,
  makeId: MakeId,
  at: number,
  wanted: NewMemory,
  metadata: M,
): Omit<MemoryRow, keyof MetadataColumns> & M {
  return {
    tenant_id: principal.tenantId,
    id: makeId('memory'),
    agent_id: principal.id,
    team_id: storableOrNull(teamOf(principal, wanted)),
    project_id: storableOrNull(wanted.project_id),
    type: wanted.type,
    scope: wanted.scope,
    status: 'active',
    title: storable(wanted.title),
    content: storable(wanted.content),
    confidence: wanted.confidence ?? DEFAULT_CONFIDENCE,
    importance: wanted.importance ?? DEFAULT_IMPORTANCE,
    ...metadata,
    source_type: storableOrNull(wanted.source_type),
    source_id: storableOrNull(wanted.source_id),
    source_url: wanted.source_url ?? null,
    source_event_id: storableOrNull(wanted.source_event_id),
    external_id: storableOrNull(wanted.external_id),
    freshness_date: msOrNull(wanted.freshness_date),
    expires_at: expiryOf(wanted.expires_at, at),
    created_at: at,
    updated_at: at,
    accessed_at: at,
  }
}

/**
 * Stores a new memory. Returns null, or the memory of the same owner that has its external id already, also if that one
 * took the last room of a quota: it may be what an earlier try of the same request made. A memory past its expiry gives
 * the id up.
 */
export async function keepNew(
  tx: Db,
  { index, quotas }: Pick<MemoryTools, 'index' | 'quotas'>,
  principal: Principal,
  row: WrittenMemory,
  at = row.created_at,
  ready?: ReadyVectors,
): Promise<MemoryRow | null> {
  const bytes = storedBytes(row)
  const room = await quotas
    .makeRoom(tx, row.tenant_id, 'memories')
    .then(() => quotas.makeRoomForBytes(tx, row.tenant_id, bytes))
    .catch(onlyFailure)
  const isRefused = room instanceof Failure
  while (isRefused || (await insertMemory(tx, row)) === 0) {
    const holder = row.external_id === null ? undefined : await lockByExternalId(tx, principal, row.external_id)
    if (holder && isLive(holder, at)) {
      if (!isRefused) room()
      return holder
    }
    if (isRefused) throw room
    if (holder) await expire(tx, index, holder)
  }
  const placed = await placeMetadata(tx, row)
  if (placed) await saveMemory(tx, { ...row, ...placed })
  await index.put(tx, row, undefined, ready)
  meter(tx, at, [
    [row.tenant_id, 'memories', 1],
    [row.tenant_id, STORED_BYTES, bytes],
  ])
  return null
}

/** `ready` are the vectors of title and content, if they are known already; `kept` is metadata written ahead. */
export async function remember(
  tx: Db,
  tools: MemoryTools,
  principal: Principal,
  wanted: NewMemory,
  { ready, kept }: { ready?: ReadyVectors | undefined; kept?: MetadataColumns | null } = {},
): Promise<WrittenMemory> {
  const metadata = kept ?? inRow(jsonTextOrBytes(wanted.metadata ?? {}))
  const row: WrittenMemory = withMetadata(principal, tools.makeId, tools.now(), wanted, metadata)
  const holder = await keepNew(tx, tools, principal, row, row.created_at, ready)
  if (holder) throw taken('This external id', holder.id)
  // The response shows what was sent, which is in memory.
  return kept ? { ...row, ...inRow(jsonTextOrBytes(wanted.metadata ?? {})) } : row
}
