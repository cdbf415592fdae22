// Idempotency keys: the same request twice is one effect and one response.
//
// 1. The record of a response commits in the transaction of the effect it reports, so neither can exist without the
//    other.
// 2. Two equal requests on one node: the second waits for the first. On two nodes: the primary key lets one commit, the
//    other undoes its work and responds with what the first one stored.
// 3. A refusal (4xx) that would come out the same again is kept too; 401, 403, 429 and 5xx never are.
// 4. A record is small: of a memory with long metadata it keeps all but that, which the memory or its history has, and
//    of a long response to a call that changes nothing there is none. Otherwise a hundred bytes with a key would be ten megabytes on disk for a day.
// 5. A response that shows a secret is kept encrypted, and given again only to the API key that asked for it.
import { createHash, webcrypto } from 'node:crypto'
import type { Secrets } from '../kernel/secrets.ts'
import type { ErrorCode } from '@sensorium/contract'
import { changedSince, keyOfAnother, keyReused, recordedFailure } from '../kernel/failure.ts'
import type { Db, Reads, Store } from '../store/db.ts'
import { purge, type Aging } from '../store/purge.ts'
import { metadataAt } from '../memory/versions.ts'
import { slices } from '../memory/wire.ts'
import type { OperationResponse, Pieces, StoredMetadata } from './response.ts'

/** Records that nobody can ask for any more. */
const RECORDS: Aging = {
  table: 'idempotency',
  key: ['principal_id', 'method', 'path', 'idempotency_key'],
  age: 'created_at',
}
const RETENTION_MS = 24 * 3_600_000

export interface RequestKey {
  tenantId: string
  principalId: string
  /** The API key of the call: not part of what is looked up. */
  keyId: string
  method: string
  path: string
  key: string
  bodyHash: string
}

interface Row {
  body_hash: string
  status: number
  body: string
  sealed: number
  resource_id: string | null
  /** Null in rows of a release that did not note it. */
  key_id: string | null
}

/** Thrown inside a transaction whose record another node wrote first: everything in it is undone. */
class LostRace extends Error {}

export interface Idempotency {
  /** Runs `work` unless an equal request was carried out before: then its response comes again, as `replayed`. */
  once(request: RequestKey, work: (record: RecordResponse) => Promise<OperationResponse>): Promise<OperationResponse>
  /** Throws away all records older than the retention, some at a time so that nobody waits long; returns how many. */
  purge(): Promise<number>
}

/** Writes the record of a response in the transaction of its effect. */
export type RecordResponse = (tx: Db, response: OperationResponse) => Promise<void>

/** The body of a record: as JSON, or a text as it is. */
interface Recorded {
  json?: unknown
  text?: string
  pieces?: Pieces
  /** Of a refusal. */
  headers?: Record<string, string>
}

/**
 * What a kept text begins with, which no JSON does. To quote a memory of 10 MB took the main thread 20 to 40 ms, and to
 * read it back as long.
 */
const AS_TEXT = '='
/** And what one begins with whose metadata is the memory's. */
const WITH_METADATA = '@'
/** A longer response of a call that has changed nothing is made anew. */
export const MAX_UNPAID = 65_536

interface RecordedError {
  error: { code: ErrorCode; message: string; details: Record<string, unknown> }
}

export const hashBody = (...parts: (string | Uint8Array)[]): string => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('base64url')
}

/** Over this many bytes a thread of the pool computes the hash: 10 MB take 10 to 30 ms. */
const LARGE = 262_144

export const hashLarge = async (body: Buffer): Promise<string> =>
  body.length < LARGE
    ? hashBody(body)
    : Buffer.from(await webcrypto.subtle.digest('SHA-256', body as Buffer<ArrayBuffer>)).toString('base64url')

/**
 * A kept refusal comes out the same the next time: it depends on the request alone, or on what the key already stands
 * for.
 */
const isKept = (status: number): boolean => status < 500 && ![401, 403, 429].includes(status)

/** An index row of PostgreSQL holds some 2,700 bytes; a path may have 16,000. What begins with a slash is a path. */
const MAX_PATH = 512
const storedPath = (path: string): string => (path.length <= MAX_PATH ? path : `sha256:${hashBody(path)}`)

const find = (db: Db, r: RequestKey) =>
  db.lookUp<Row>(
    `select body_hash, status, body, sealed, resource_id, key_id from idempotency
      where tenant_id = ? and principal_id = ? and method = ? and path = ? and idempotency_key = ?`,
    [r.tenantId, r.principalId, r.method, storedPath(r.path), r.key],
  )

/**
 * Inserts unless the key is taken, and returns how many rows were written. On PostgreSQL it waits for a competing
 * insert.
 */
const insert = (db: Db, r: RequestKey, row: Row, now: number): Promise<number> =>
  db.run(
    `insert into idempotency (tenant_id, principal_id, method, path, idempotency_key, body_hash, status, body, sealed, resource_id, key_id, created_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`,
    [
      r.tenantId,
      r.principalId,
      r.method,
      storedPath(r.path),
      r.key,
      row.body_hash,
      row.status,
      row.body,
      row.sealed,
      row.resource_id,
      row.key_id,
      now,
    ],
  )

/**
 * A response that shows long metadata, which is read when it is wanted: from the memory, or from its history where it was
 * changed meanwhile.
 */
export async function* withMetadata(
  db: Reads,
  tenantId: string,
  { memoryId, updatedAt, before, after }: StoredMetadata,
  key: string | null,
): AsyncGenerator<string> {
  const metadata = await metadataAt(db, tenantId, memoryId, updatedAt)
  if (metadata === undefined) throw changedSince(key, memoryId)
  yield before
  yield* slices(metadata)
  yield after
}

export function makeIdempotency(store: Store, secrets: Secrets, now: () => number): Idempotency {
  const running = new Map<string, Promise<void>>()
  const nameOf = (r: RequestKey): string => JSON.stringify([r.tenantId, r.principalId, r.method, r.path, r.key])

  function recordedBody({ json, text, stored, failure }: OperationResponse): string {
    if (stored) return WITH_METADATA + JSON.stringify(stored)
    if (!failure) return text === undefined ? JSON.stringify({ json } satisfies Recorded) : AS_TEXT + text
    const { code, message, details, headers } = failure
    return JSON.stringify({ json: { error: { code, message, details } } satisfies RecordedError, headers })
  }

  function rowOf(request: RequestKey, response: OperationResponse): Row {
    const body = recordedBody(response)
    return {
      body_hash: request.bodyHash,
      status: response.status,
      body: response.secret ? secrets.seal(body, nameOf(request)) : body,
      sealed: response.secret ? 1 : 0,
      resource_id: response.resourceId ?? null,
      key_id: request.keyId,
    }
  }

  function readBody({ tenantId, key }: RequestKey, body: string): Recorded {
    if (body.startsWith(AS_TEXT)) return { text: body.slice(AS_TEXT.length) }
    if (!body.startsWith(WITH_METADATA)) return JSON.parse(body) as Recorded
    const stored = JSON.parse(body.slice(WITH_METADATA.length)) as StoredMetadata
    return { pieces: withMetadata(store, tenantId, stored, key) }
  }

  async function stored(request: RequestKey): Promise<OperationResponse | null> {
    const row = await find(store, request)
    if (!row) return null
    if (row.body_hash !== request.bodyHash) throw keyReused(request.key, row.resource_id)
    if (row.sealed && row.key_id !== request.keyId) throw keyOfAnother(request.key, row.resource_id)
    const body = row.sealed ? secrets.open(row.body, nameOf(request)) : row.body
    const { json, text, pieces, headers } = readBody(request, body)
    if (row.status >= 400) {
      const { code, message, details } = (json as RecordedError).error
      return { status: row.status, failure: recordedFailure(code, message, details, headers), replayed: true }
    }
    if (pieces) return { status: row.status, pieces, replayed: true }
    return { status: row.status, ...(text === undefined ? { json } : { text }), replayed: true }
  }

  return {
    async once(request, work) {
      const name = nameOf(request)
      while (running.has(name)) await running.get(name)
      let finished!: () => void
      running.set(name, new Promise((resolve) => (finished = resolve)))
      try {
        for (;;) {
          const earlier = await stored(request)
          if (earlier) return earlier
          try {
            let recorded = false
            const response = await work(async (tx, given) => {
              recorded = true
              if ((await insert(tx, request, rowOf(request, given), now())) === 0) throw new LostRace()
            })
            if (!recorded && isKept(response.status) && !response.pieces) {
              const row = rowOf(request, response)
              if (row.body.length > MAX_UNPAID) return response
              const written = await store.tx((tx) => insert(tx, request, row, now()))
              // Another node did the same work meanwhile, and it may be why this one was refused.
              if (written === 0) throw new LostRace()
            }
            return response
          } catch (error) {
            if (!(error instanceof LostRace)) throw error
          }
        }
      } finally {
        running.delete(name)
        finished()
      }
    },
    purge: () => purge(store, RECORDS, now() - RETENTION_MS - 3_600_000),
  }
}
