// Facts: the scalars of a memory's metadata, by which a search may be filtered. Name and value are stored as JSON text,
// which can represent every string. Metadata over MAX_METADATA has no facts and is never parsed here.
import { one, type Db, type Insert } from '../../store/db.ts'
import type { Condition } from '../see.ts'

/** In bytes. */
const MAX_METADATA = 65_536
const MAX_FACTS = 64
/** The most characters of a name and of a value, as JSON. */
const MAX_NAME = 130
const MAX_VALUE = 258

interface Described {
  tenant_id: string
  id: string
  metadata: string | Buffer
}

export type Scalar = string | number | boolean | null

const FACTS: Insert = {
  into: 'memory_facts',
  columns: { tenant_id: 'text', name: 'text', value: 'text', memory_id: 'text' },
  conflict: 'on conflict do nothing',
}

/** Returns a value as JSON. A number that is too large for a double is no null, as which JSON would write it. */
const textOf = (value: Scalar): string =>
  typeof value === 'number' && !Number.isFinite(value) ? String(value) : JSON.stringify(value)

function factsOf(metadata: string | Buffer): [name: string, value: string][] {
  if (metadata === '{}' || Buffer.byteLength(metadata) > MAX_METADATA) return []
  return Object.entries(JSON.parse(String(metadata)) as Record<string, unknown>)
    .filter(([, value]) => typeof value !== 'object' || value === null)
    .map(([name, value]): [string, string] => [JSON.stringify(name), textOf(value as Scalar)])
    .filter(([name, value]) => name.length <= MAX_NAME && value.length <= MAX_VALUE)
    .slice(0, MAX_FACTS)
}

/** Writes the facts of a memory that has no facts stored. */
export async function putFacts(tx: Db, { tenant_id, id, metadata }: Described): Promise<void> {
  const facts = factsOf(metadata)
  if (facts.length > 0)
    await tx.insertMany(
      FACTS,
      facts.map(([name, value]) => [tenant_id, name, value, id]),
    )
}

/** Deletes the facts of a memory, whose row the caller has locked. */
export const removeFacts = (tx: Db, tenantId: string, id: string): Promise<number> =>
  tx.run('delete from memory_facts where tenant_id = ? and memory_id = ?', [tenantId, id])

/**
 * Returns what facts can be made of, and locks the memory against changes until the transaction ends; undefined if
 * another holds it. To wait would be a deadlock: with the index of a memory locked, for one that an expiry has locked
 * ahead, which waits for an embedder, which waits for that index.
 */
export const lockMetadata = (
  tx: Db,
  { tenant_id, id }: Pick<Described, 'tenant_id' | 'id'>,
): Promise<Described | undefined> =>
  one(
    tx,
    `select tenant_id, id, case when octet_length(metadata) <= ${MAX_METADATA} then metadata else '{}' end as metadata
       from memories where tenant_id = ? and id = ? ${tx.dialect.skipLocked}`,
    [tenant_id, id],
  )

/** Returns the conditions on `m`, a memory of the tenant, that its metadata has these members. */
export const hasFacts = (tenantId: string, metadata: Readonly<Record<string, Scalar>>): Condition[] =>
  Object.entries(metadata).map(([name, value]) => ({
    sql: `exists (select 1 from memory_facts f
                   where f.tenant_id = ? and f.memory_id = m.id and f.name = ? and f.value = ?)`,
    values: [tenantId, JSON.stringify(name), textOf(value)],
  }))
