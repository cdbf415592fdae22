// The queries of an import beside those for memories and relationships. Every query names the tenant.
import { one, type Db } from '../../store/db.ts'
import { seenBy, type Viewer } from '../see.ts'
import type { RelationshipRow } from '../relationships-sql.ts'
import { memoryColumns, type MemoryRow } from '../sql.ts'

/** Returns a memory of the tenant, whatever its status and owner, locked until the transaction ends. */
export const lockMemory = (tx: Db, tenantId: string, id: string): Promise<MemoryRow | undefined> =>
  one<MemoryRow>(
    tx,
    `select ${memoryColumns(tx.dialect, 'm')} from memories m where m.tenant_id = ? and m.id = ? ${tx.dialect.forUpdate}`,
    [tenantId, id],
  )

/** Whether the viewer sees a memory, without reading it. */
export async function sees(db: Db, viewer: Viewer, id: string, now: number): Promise<boolean> {
  const seen = seenBy(viewer, now)
  return (
    (await one(db, `select m.id from memories m where ${seen.sql} and m.id = ?`, [...seen.values, id])) !== undefined
  )
}

/** Returns the id of the memory that a line of this origin became for this owner. */
export async function importedAs(db: Db, { tenantId, id }: Viewer, origin: string): Promise<string | undefined> {
  const row = await one<{ memory_id: string }>(
    db,
    'select memory_id from memory_imports where tenant_id = ? and agent_id = ? and origin = ?',
    [tenantId, id, origin],
  )
  return row?.memory_id
}

/** Notes which memory a line became, in place of an earlier note. Waits for another import of the same line. */
export const noteImport = (tx: Db, { tenantId, id }: Viewer, origin: string, memoryId: string): Promise<number> =>
  tx.run(
    `insert into memory_imports (tenant_id, agent_id, origin, memory_id) values (?, ?, ?, ?)
     on conflict (tenant_id, agent_id, origin) do update set memory_id = excluded.memory_id`,
    [tenantId, id, origin, memoryId],
  )

/** Returns what is noted for a memory by this owner's imports: a few keys of lines, and whose lines they were. */
export const notesOf = async (db: Db, { tenantId, id }: Viewer, memoryId: string): Promise<string[]> =>
  (
    await db.rows<{ origin: string }>(
      'select origin from memory_imports where tenant_id = ? and memory_id = ? and agent_id = ?',
      [tenantId, memoryId, id],
    )
  ).map(({ origin }) => origin)

/** Writes the columns of a relationship that can change. */
export const saveRelationship = (
  tx: Db,
  { tenant_id, id, strength, metadata }: RelationshipRow,
  now: number,
): Promise<number> =>
  tx.run('update memory_relationships set strength = ?, metadata = ?, changed_at = ? where tenant_id = ? and id = ?', [
    strength,
    metadata,
    now,
    tenant_id,
    id,
  ])
