// Creates or replaces a memory of the caller by its external id, the id it has in another system. Fields that the body
// leaves out get the values of a new memory.
import type { MemoryCreate, Static } from '@sensorium/contract'
import type { Principal } from '../auth/principal.ts'
import { externalIdOf } from '../kernel/external-id.ts'
import type { Db } from '../store/db.ts'
import { withKnown, type MetadataColumns } from './long-metadata.ts'
import { requireWider } from './promote.ts'
import { keepNew, newMemory, type MemoryTools } from './remember.ts'
import { isLive } from './see.ts'
import { lockByExternalId, type MemoryRow } from './sql.ts'
import { isSameVersion, timeOfChange } from './versions.ts'
import { writeChange } from './write-change.ts'

interface PutMemory {
  memory: MemoryRow
  outcome: 'made' | 'changed' | 'same'
}

export async function putMemory(
  tx: Db,
  tools: MemoryTools,
  principal: Principal,
  externalId: string,
  wanted: Static<typeof MemoryCreate>,
  kept: MetadataColumns | null = null,
): Promise<PutMemory> {
  const external_id = externalIdOf(externalId, wanted)
  const made = newMemory(principal, tools.makeId, tools.now(), { ...wanted, external_id }, kept)
  // Looked up first: a client that puts everything it knows again finds most of it there.
  const known = await lockByExternalId(tx, principal, external_id)
  const found = known && isLive(known, made.created_at) ? known : await keepNew(tx, tools, principal, made)
  if (!found) return { memory: made, outcome: 'made' }
  const row = await withKnown(found, made)
  if (isSameVersion(found, row)) return { memory: found, outcome: 'same' }
  requireWider(found, row)
  const { id, created_at, accessed_at } = found
  const now = row.updated_at
  const memory: MemoryRow = { ...row, id, created_at, accessed_at, updated_at: timeOfChange(found, now) }
  await writeChange(tx, tools, principal.id, found, memory, now)
  return { memory, outcome: 'changed' }
}
