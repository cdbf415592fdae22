// The rows of records: the response to a request under its Idempotency-Key, or a mark that it is still under way.
import { createHash } from 'node:crypto'
import type { Db } from '../store/db.ts'

export interface RequestKey {
  tenantId: string
  principalId: string
  /** The API key of the call. It is not part of the look-up. */
  keyId: string
  method: string
  path: string
  key: string
  bodyHash: string
}

export interface RecordRow {
  body_hash: string
  status: number
  body: string
  sealed: number
  resource_id: string | null
  /** Null in rows written by a release that did not store it. */
  key_id: string | null
  created_at: number
}

/**
 * The status that marks a request of several transactions after the first of them. No response with this status is ever
 * recorded, and a node of an older release returns the mark as it stands: the caller may retry.
 */
export const UNDER_WAY = 503

/** An index row of PostgreSQL holds some 2,700 bytes; a path may have 16,000. A hash never begins with a slash. */
const MAX_PATH = 512
const storedPath = (path: string): string =>
  path.length <= MAX_PATH ? path : `sha256:${createHash('sha256').update(path).digest('base64url')}`

const KEY = 'tenant_id = ? and principal_id = ? and method = ? and path = ? and idempotency_key = ?'
const keyOf = (r: RequestKey) => [r.tenantId, r.principalId, r.method, storedPath(r.path), r.key]

/** Returns the record of a request, or the mark that it is under way. Locks nothing. */
export const findRecord = (db: Db, r: RequestKey) =>
  db.lookUp<RecordRow>(
    `select body_hash, status, body, sealed, resource_id, key_id, created_at from idempotency where ${KEY}`,
    keyOf(r),
  )

/** Inserts unless the key is taken. Returns how many rows were written. On PostgreSQL, waits for a competing insert. */
export const insertRecord = (db: Db, r: RequestKey, row: RecordRow): Promise<number> =>
  db.run(
    `insert into idempotency (tenant_id, principal_id, method, path, idempotency_key, body_hash, status, body, sealed, resource_id, key_id, created_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`,
    [...keyOf(r), row.body_hash, row.status, row.body, row.sealed, row.resource_id, row.key_id, row.created_at],
  )

// The body of the mark that a request is under way begins with a marker, chosen by the call that carries it out. What
// follows the marker changes with every step.
const MARKED = `${KEY} and status = ${UNDER_WAY} and substr(body, 1, ?) = ?`
const markOf = (r: RequestKey, marker: string) => [...keyOf(r), marker.length, marker]

/** Replaces the mark by the response, or by another mark. Returns 0 if the mark is gone. */
export const replaceMark = (db: Db, r: RequestKey, marker: string, row: RecordRow): Promise<number> =>
  db.run(
    `update idempotency set status = ?, body = ?, sealed = ?, resource_id = ?, key_id = ?, created_at = ? where ${MARKED}`,
    [row.status, row.body, row.sealed, row.resource_id, row.key_id, row.created_at, ...markOf(r, marker)],
  )

/** Sets the time of the mark: now to renew it, an earlier time to let an equal request go on with the work. */
export const dateMark = (db: Db, r: RequestKey, marker: string, at: number): Promise<number> =>
  db.run(`update idempotency set created_at = ? where ${MARKED}`, [at, ...markOf(r, marker)])

/** Deletes the mark. Returns 0 if it is gone. */
export const deleteMark = (db: Db, r: RequestKey, marker: string): Promise<number> =>
  db.run(`delete from idempotency where ${MARKED}`, markOf(r, marker))
