// The search thread finds and ranks memories, and searches texts, on its own connections. Over many memories that takes
// tens of milliseconds of CPU time, which the main thread cannot spare.
import { parentPort, workerData } from 'node:worker_threads'
import { makeYieldCpu } from '../../kernel/yield-cpu.ts'
import { systemClock } from '../../kernel/clock.ts'
import { StoreUnavailable, type Db } from '../../store/db.ts'
import type { ReaderDb } from '../../store/sqlite.ts'
import { selectCandidates, type Candidates, type CandidatesRequest } from './candidates.ts'
import { EXTRA_RESULTS, lowerContradicted } from './contradict.ts'
import { idsHolding, type HoldingRequest } from './holds-text.ts'
import { chanceOf, rounded } from '../calibrate.ts'
import type { Finder, Near, NearestQuery, Recalled, SearchQuery } from './memory-index.ts'
import { searchFingerprintOf } from './search-fingerprint.ts'
import { makeTenantCache, type ColumnSource, type TenantCache } from './tenant-cache.ts'

/** The file of an embedded store, or the address of a server. */
export type Where = { file: string } | { url: string }

/** The requests of the thread by kind, with their responses. */
export interface Requests {
  find: { request: SearchQuery; response: Recalled[] }
  nearest: { request: NearestQuery; response: Near[] }
  /** The memories that may hold a text. */
  candidates: { request: CandidatesRequest; response: Candidates }
  /** The search fingerprint of a tenant (search-fingerprint.ts). */
  searchFingerprint: { request: { tenantId: string; model: string }; response: string | null }
  /** Which of the given memories hold a folded text in their title or content. */
  holding: { request: HoldingRequest; response: string }
  /** Learns whether its server still takes writes, and whether the store has become sharded. */
  learn: { request: null; response: null }
}
export type SearchRequest = { [K in keyof Requests]: { kind: K; about: Requests[K]['request'] } }[keyof Requests]
/** `unavailable` says why the store cannot be reached. */
export type SearchResponse = { found: Requests[keyof Requests]['response'] } | { unavailable: string }

type Opened = { ask(request: SearchRequest): Promise<Requests[keyof Requests]['response']>; close(): Promise<void> }

/** How often unused columns are dropped. */
const LOOKED_AFTER_MS = 60_000
/** Concurrent searches on PostgreSQL: more would take CPU time from the events. */
const CONNECTIONS = 2

const yieldCpu = makeYieldCpu()

/** Returns the best results. Results that other results contradict are lowered. */
async function find(db: Db, finder: Finder, search: SearchQuery): Promise<Recalled[]> {
  const { ranked, scale } = await finder.find({ ...search, limit: search.limit + EXTRA_RESULTS })
  const best = await lowerContradicted(db, search.viewer.tenantId, ranked, search.limit)
  return best.map(({ id, relevance, signals }) => ({ id, score: rounded(chanceOf(relevance, scale)), signals }))
}

/** What a request is carried out with. The cache is null if no columns are kept. */
interface SearchTools {
  finder: Finder
  cache: TenantCache | null
}

function respondWith(
  db: Db,
  { finder, cache }: SearchTools,
  { kind, about }: SearchRequest,
): Promise<Requests[keyof Requests]['response']> {
  if (kind === 'find') return find(db, finder, about)
  if (kind === 'nearest') return finder.nearest(about)
  if (kind === 'searchFingerprint') return searchFingerprintOf(db, cache, about.tenantId, about.model)
  if (kind === 'candidates') return selectCandidates(db, about)
  if (kind === 'holding') return idsHolding(db, about, yieldCpu)
  return Promise.resolve(null) // an embedded store stays what it is
}

/** Makes a cache whose columns are dropped when they have not been searched for a while. */
function makeColumnCache(source: ColumnSource): TenantCache {
  const cache = makeTenantCache(source)
  setInterval(cache.dropUnused, LOOKED_AFTER_MS).unref()
  return cache
}

async function open(where: Where): Promise<Opened> {
  if ('url' in where) {
    const [{ openPostgres }, { postgresFinder }, { postgresColumns }, { postgresColumnFinder }] = await Promise.all([
      import('../../store/postgres.ts'),
      import('./find-postgres.ts'),
      import('./columns-postgres.ts'),
      import('./find-postgres-columns.ts'),
    ])
    const store = openPostgres({ url: where.url, clock: systemClock, poolSize: CONNECTIONS })
    try {
      await store.refreshCapabilities()
    } catch (error) {
      await store.close()
      throw error
    }
    const bySql = postgresFinder(store)
    const cache = makeColumnCache(postgresColumns(store))
    const byColumns = postgresColumnFinder(store, cache, bySql)
    const tools = (): SearchTools => (store.isSharded ? { finder: bySql, cache: null } : { finder: byColumns, cache })
    return {
      async ask(request) {
        if (request.kind !== 'learn') return respondWith(store, tools(), request)
        // This thread never writes, so no write tells it that its server takes none any more.
        await store.ping()
        await store.refreshCapabilities()
        return null
      },
      close: store.close,
    }
  }
  const [{ openReadConnection }, { sqliteFinder }, { sqliteColumns }] = await Promise.all([
    import('../../store/sqlite.ts'),
    import('./find-sqlite.ts'),
    import('./columns-sqlite.ts'),
  ])
  const reader = openReadConnection(where.file)
  let tools: SearchTools | undefined
  function toolsOn(db: ReaderDb): SearchTools {
    const cache = makeColumnCache(sqliteColumns(db))
    return { finder: sqliteFinder(db, cache), cache }
  }
  // Requests run in sequence: a connection has one snapshot at a time.
  let last: Promise<unknown> = Promise.resolve()
  return {
    ask(request) {
      const found = last.then(() => reader.snapshot((db) => respondWith(db, (tools ??= toolsOn(db)), request)))
      last = found.catch(() => {})
      return found
    },
    async close() {
      await last
      reader.close()
    },
  }
}

const port = parentPort!
let opened: Promise<Opened> | null = null

/** Opens the store with the first request. If that fails, the next request tries again: a server may come back. */
function whenOpen(): Promise<Opened> {
  opened ??= open(workerData as Where).catch((error: unknown) => {
    opened = null
    throw error
  })
  return opened
}
const underWay = new Set<Promise<void>>()

async function respond(id: number, request: SearchRequest): Promise<void> {
  try {
    port.postMessage({ id, response: { found: await (await whenOpen()).ask(request) } })
  } catch (error) {
    if (error instanceof StoreUnavailable) port.postMessage({ id, response: { unavailable: error.message } })
    else port.postMessage({ id, error: (error as Error).stack ?? String(error) })
  }
}

async function close(): Promise<void> {
  await Promise.all(underWay)
  await (await opened)?.close()
  port.close()
}

port.on('message', (message: { id: number; request: SearchRequest } | { close: true }) => {
  if ('close' in message) return void close()
  const responding = respond(message.id, message.request).finally(() => underWay.delete(responding))
  underWay.add(responding)
})
