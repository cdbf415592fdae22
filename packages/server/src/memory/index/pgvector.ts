// pgvector, where the server has it. The vectors of a small tenant are compared one by one, those of a large tenant
// through HNSW with an iterative scan, so that a filter never leaves a search with too few results. Whether the server
// has it is checked once, with the first vector that is written or searched for.
import { StoreUnavailable, type Db, type Store } from '../../store/db.ts'
import type { EmbeddedWindow } from '../embed/embedder.ts'
import { wantedSql } from './filter-conditions.ts'
import type { SearchQuery } from './memory-index.ts'
import { candidatesFor } from '../rank.ts'
import { seenBy } from '../see.ts'

/** Up to this many windows of a tenant, an exact comparison is faster than HNSW with filters. */
const SMALL = 10_000
/** HNSW indexes vectors of at most this length. Longer ones are compared one by one. */
const MOST_INDEXED = 2_000
/** When a build of an index that has failed is tried again. */
const BUILD_AGAIN_MS = 3_600_000

/** A window of a memory. Its vector is in base64, which is shorter than the server's own format and parsed faster. */
export interface Window {
  memory_id: string
  part: number
  vector: string
}

export interface Pgvector {
  /** Returns the nearest windows of the wanted memories; null when the server has no pgvector. */
  nearest(search: SearchQuery, many: number): Promise<Window[] | null>
  /** Sets up the extension if the server has it. */
  prepare(): Promise<void>
  keep(tx: Db, tenantId: string, memoryId: string, windows: readonly EmbeddedWindow[]): Promise<void>
}

const vectorText = (vector: Float32Array): string => `[${Array.from(vector).join(',')}]`

/** Returns whether the extension can be used. Creates it, and its column, if the server has it. */
async function setUp(store: Store): Promise<boolean> {
  // Whether the database has the extension; no row if the server does not offer it.
  const [there] = await store.rows<{ installed: boolean }>(
    "select exists (select 1 from pg_extension where extname = 'vector') as installed from pg_available_extensions where name = 'vector'",
  )
  if (!there) return false
  try {
    await store.tx(async (tx) => {
      // Held until the commit: nodes that start together set up one after the other.
      await tx.rows('select pg_advisory_xact_lock(7310868735937)')
      if (!there.installed) await tx.run('create extension if not exists vector')
      // A row if the column is there already.
      const [column] = await tx.rows(
        "select 1 from information_schema.columns where table_name = 'memory_vectors' and column_name = 'embedding'",
      )
      if (column) return
      await tx.run('alter table memory_vectors add column embedding vector')
      // Memories that are already embedded are embedded again, which fills the column.
      await tx.run("update memory_recall set embedded = '', claimed_until = 0, retry_at = 0 where embedded <> ''")
    })
    return true
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error
    return false // no right to create the extension: signatures are used instead
  }
}

export function pgvector(store: Store, small = SMALL): Pgvector {
  let known: Promise<boolean> | undefined
  let isPrepared = false
  /** Lengths of vectors that have an index, and those whose index is not built before a time. */
  const ready = new Set<number>()
  const notBefore = new Map<number, number>()

  const available = (): Promise<boolean> =>
    (known ??= setUp(store).catch((error: unknown) => {
      known = undefined // the store was unavailable: check again next time
      throw error
    }))

  /**
   * Whether vectors of this length have a HNSW index. If not, one is built in the background, beside the writers of the
   * table: for a million vectors that takes minutes, and until then they are compared one by one. An index is for one
   * length, and a deployment has one.
   */
  async function isIndexed(dimensions: number): Promise<boolean> {
    if (ready.has(dimensions)) return true
    if (dimensions > MOST_INDEXED || performance.now() < (notBefore.get(dimensions) ?? 0)) return false
    const name = `memory_vectors_hnsw_${dimensions}`
    // What became of a build: it may be under way, in any process, or have broken off.
    const [index] = await store.rows<{ valid: boolean; building: boolean }>(
      `select i.indisvalid as valid,
              exists (select 1 from pg_stat_progress_create_index p where p.index_relid = i.indexrelid) as building
         from pg_index i join pg_class c on c.oid = i.indexrelid
        where c.relname = ? and c.relnamespace = (select oid from pg_namespace where nspname = current_schema())`,
      [name],
    )
    if (index?.valid) ready.add(dimensions)
    if (index?.valid || index?.building) return index.valid
    notBefore.set(dimensions, performance.now() + BUILD_AGAIN_MS)
    const build = async (): Promise<void> => {
      if (index) await store.runAlone(`drop index concurrently if exists ${name}`)
      await store.runAlone(hnswSql(name, dimensions))
      notBefore.delete(dimensions)
    }
    build().catch(() => {}) // it is tried again later, and searches find the same without it
    return false
  }

  return {
    async nearest(search, many) {
      if (!(await available())) return null
      const { viewer, meaning, model } = search
      const dimensions = meaning!.vector.length
      // How many windows the tenant has, counted no further than needed. Locks nothing.
      const [size] = await store.rows<{ windows: number }>(
        'select count(*) as windows from (select 1 from memory_vectors where tenant_id = ? limit ?) w',
        [viewer.tenantId, small + 1],
      )
      const seen = seenBy(search.viewer, search.now)
      const wanted = wantedSql(search)
      const values = [
        viewer.tenantId,
        model,
        dimensions,
        ...seen.values,
        ...wanted.values,
        vectorText(meaning!.vector),
        many,
      ]
      if (size!.windows > small && (await isIndexed(dimensions))) {
        const found = await store.tx(async (tx) => {
          for (const setting of HNSW_SETTINGS) await tx.run(setting)
          return tx.rows<Window>(nearestSql(dimensions, seen.sql, wanted.sql, false), values)
        })
        // For a viewer who sees little of a large tenant, the scan may end before it has found enough.
        if (new Set(found.map(({ memory_id }) => memory_id)).size >= candidatesFor(search.limit)) return found
      }
      return store.rows<Window>(nearestSql(dimensions, seen.sql, wanted.sql, true), values)
    },
    async prepare() {
      isPrepared = await available()
    },
    async keep(tx, tenantId, memoryId, windows) {
      if (!isPrepared) return
      for (const [part, { vector }] of windows.entries()) {
        // Adds the extension's form of a vector to its row, which this transaction inserted.
        await tx.run(
          'update memory_vectors set embedding = ?::vector where tenant_id = ? and memory_id = ? and part = ?',
          [vectorText(vector), tenantId, memoryId, part],
        )
      }
    },
  }
}

const HNSW_SETTINGS = [
  'set local hnsw.iterative_scan = relaxed_order',
  'set local hnsw.ef_search = 400',
  'set local hnsw.max_scan_tuples = 40000',
]

const hnswSql = (name: string, dimensions: number): string =>
  `create index concurrently if not exists ${name} on memory_vectors using hnsw ((embedding::vector(${dimensions})) vector_cosine_ops)
   where vector_dims(embedding) = ${dimensions}`

/** Selects the windows of wanted memories nearest to a vector, with their vectors; exactly, or by the HNSW index. */
const nearestSql = (dimensions: number, seen: string, wanted: string, exact: boolean): string => {
  const from = `memory_vectors v join memories m on m.tenant_id = v.tenant_id and m.id = v.memory_id
    where v.tenant_id = ? and v.model = ? and vector_dims(v.embedding) = ? and ${seen} and ${wanted}`
  // Materialised: the filter runs first, and the planner cannot choose an index of distances.
  return exact
    ? `with w as materialized (select v.memory_id, v.part, v.vector, v.embedding from ${from})
       select memory_id, part, encode(vector, 'base64') as vector from (select * from w order by embedding <=> ?::vector limit ?) n`
    : `select memory_id, part, encode(vector, 'base64') as vector from (
         select v.memory_id, v.part, v.vector from ${from} and vector_dims(v.embedding) = ${dimensions}
         order by v.embedding::vector(${dimensions}) <=> ?::vector(${dimensions}) limit ?
       ) n`
}
