// The rows of records: the response to a request under its Idempotency-Key, or that it is still being carried out.
import { createHash } from 'node:crypto'
import type { Db } from '../store/db.ts'

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

export interface RecordRow {
  body_hash: string
  status: number
  body: string
  sealed: number
  resource_id: string | null
  /** Null in rows of a release that did not note it. */
  key_id: string | null
  created_at: number
}

/**
 * The status of a request that takes several transactions and has done the first of them. No response with it is kept
 * otherwise, and a node of an older release gives it as it stands: the caller may try again.
 */
export const UNDER_WAY = 503

/** An index row of PostgreSQL holds some 2,700 bytes; a path may have 16,000. What begins with a slash is a path. */
const MAX_PATH = 512
const storedPath = (path: string): string =>
  path.length <= MAX_PATH ? path : `sha256:${createHash('sha256').update(path).digest('base64url')}`

const KEY = 'tenant_id = ? and principal_id = ? and method = ? and path = ? and idempotency_key = ?'
const keyOf = (r: RequestKey) => [r.tenantId, r.principalId, r.method, storedPath(r.path), r.key]

/** The record of a request, or that it is under way. Locks nothing. */
export const findRecord = (db: Db, r: RequestKey) =>
  db.lookUp<RecordRow>(
    `select body_hash, status, body, sealed, resource_id, key_id, created_at from idempotency where ${KEY}`,
    keyOf(r),
  )

/**
 * Inserts unless the key is taken, and returns how many rows were written. On PostgreSQL it waits for a competing
 * insert.
 */
export const insertRecord = (db: Db, r: RequestKey, row: RecordRow): Promise<number> =>
  db.run(
    `insert into idempotency (tenant_id, principal_id, method, path, idempotency_key, body_hash, status, body, sealed, resource_id, key_id, created_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`,
    [...keyOf(r), row.body_hash, row.status, row.body, row.sealed, row.resource_id, row.key_id, row.created_at],
  )

// What says that a request is under way has a name in its body, made by who carries it out.
const MINE = `${KEY} and status = ${UNDER_WAY} and body = ?`

/** Puts the response in the place of what says that the request is under way; 0 where nothing does any more. */
export const completeRecord = (db: Db, r: RequestKey, name: string, row: RecordRow): Promise<number> =>
  db.run(
    `update idempotency set status = ?, body = ?, sealed = ?, resource_id = ?, key_id = ?, created_at = ? where ${MINE}`,
    [row.status, row.body, row.sealed, row.resource_id, row.key_id, row.created_at, ...keyOf(r), name],
  )

/** Says that it still is. */
export const renewUnderWay = (db: Db, r: RequestKey, name: string, now: number): Promise<number> =>
  db.run(`update idempotency set created_at = ? where ${MINE}`, [now, ...keyOf(r), name])

/** Deletes it, unless it was said again after `before`; of two that do one does. */
export const deleteUnderWay = (db: Db, r: RequestKey, name: string, before: number): Promise<number> =>
  db.run(`delete from idempotency where ${MINE} and created_at <= ?`, [...keyOf(r), name, before])
