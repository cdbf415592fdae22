// Idempotency keys: the same request twice is one effect and one response.
//
// 1. The record of a response commits in the transaction of the effect it reports, so neither can exist without the
//    other.
// 2. Two equal requests on one node: the second waits for the first. On two nodes: the primary key lets one commit, the
//    other undoes its work and responds with what the first one stored. Work that takes several transactions says so
//    with the first of them, and the other node waits for its response.
// 3. A refusal (4xx) that would come out the same again is kept too; 401, 403, 429 and 5xx never are.
// 4. A record is small: of a memory with long metadata it keeps all but that, which the memory or its history has, and
//    of a long response to a call that changes nothing there is none. Otherwise a hundred bytes with a key would be ten megabytes on disk for a day.
// 5. A response that shows a secret is kept encrypted, and given again only to the API key that asked for it.
import { createHash, randomBytes, webcrypto } from 'node:crypto'
import type { Secrets } from '../kernel/secrets.ts'
import type { Clock } from '../kernel/clock.ts'
import { keyReused, unavailable, type Failure } from '../kernel/failure.ts'
import type { Db, Store } from '../store/db.ts'
import { purge, type Aging } from '../store/purge.ts'
import {
  completeRecord,
  deleteUnderWay,
  findRecord,
  insertRecord,
  renewUnderWay,
  UNDER_WAY,
  type RecordRow,
  type RequestKey,
} from './idempotency-rows.ts'
import { failureOf, makeRecordedResponses, nameOf } from './recorded-response.ts'
import { refused, type OperationResponse } from './response.ts'

/** Records that nobody can ask for any more. */
const RECORDS: Aging = {
  table: 'idempotency',
  key: ['principal_id', 'method', 'path', 'idempotency_key'],
  age: 'created_at',
}
const RETENTION_MS = 24 * 3_600_000

/** Thrown inside a transaction whose record another node wrote first: everything in it is undone. */
class LostRace extends Error {}

export interface Idempotency {
  /** Runs `work` unless an equal request was carried out before: then its response comes again, as `replayed`. */
  once(request: RequestKey, work: (record: RecordResponse) => Promise<OperationResponse>): Promise<OperationResponse>
  /** Throws away all records older than the retention, some at a time so that nobody waits long; returns how many. */
  purge(): Promise<number>
}

/** Writes the record of a response in the transaction of its effect. */
export interface RecordResponse {
  (tx: Db, response: OperationResponse): Promise<void>
  /**
   * Says in the first of several transactions that the request is being carried out: an equal one on another node waits
   * for its response. Without it that one would find the work half done.
   */
  reserve?(tx: Db): Promise<void>
}

/** A longer response of a call that has changed nothing is made anew. */
export const MAX_UNPAID = 65_536

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

const stillUnderWay = (): Failure => unavailable('The same request is still being carried out')

/** Who carries out a request on another node says every ten seconds that it still does; who has not for so long is gone. */
const RENEW_MS = 10_000
const GONE_MS = 30_000
/** How long an equal request waits for it, looking so often. */
const WAIT_MS = 15_000
const LOOK_AGAIN_MS = 100

export function makeIdempotency(store: Store, secrets: Secrets, clock: Clock): Idempotency {
  const { now } = clock
  const { rowOf, responseOf } = makeRecordedResponses(store, secrets, now)
  const running = new Map<string, Promise<void>>()

  /** The response to an equal request; null where there was none. One that is under way on another node is waited for. */
  async function stored(request: RequestKey): Promise<OperationResponse | null> {
    const deadline = clock.elapsed() + WAIT_MS
    for (;;) {
      const row = await findRecord(store, request)
      if (!row) return null
      if (row.body_hash !== request.bodyHash) throw keyReused(request.key, row.resource_id)
      if (row.status !== UNDER_WAY) return responseOf(request, row)
      // With one node whoever is not running here is gone.
      const gone = store.isShared ? now() - GONE_MS : Number.MAX_SAFE_INTEGER
      if (row.created_at <= gone) await store.tx((tx) => deleteUnderWay(tx, request, row.body, gone))
      else if (clock.elapsed() >= deadline) throw stillUnderWay()
      else await clock.sleep(LOOK_AGAIN_MS)
    }
  }

  /** Carries it out, and writes its record; `LostRace` where another node was first. */
  async function carryOut(
    request: RequestKey,
    work: (record: RecordResponse) => Promise<OperationResponse>,
  ): Promise<OperationResponse> {
    const name = JSON.stringify({ ...failureOf(stillUnderWay()), name: randomBytes(12).toString('base64url') })
    const reservation: { renewing: NodeJS.Timeout | null } = { renewing: null }
    let recorded = false
    let isOver = false

    async function write(tx: Db, row: RecordRow): Promise<void> {
      const written = await (reservation.renewing
        ? completeRecord(tx, request, name, row)
        : insertRecord(tx, request, row))
      if (written === 0) throw new LostRace()
    }
    function renew(): void {
      store.tx((tx) => renewUnderWay(tx, request, name, now())).catch(() => {})
    }
    const record: RecordResponse = async (tx, response) => {
      recorded = true
      await write(tx, rowOf(request, response))
    }
    record.reserve = async (tx) => {
      await write(tx, { ...rowOf(request, refused(stillUnderWay())), body: name })
      tx.afterCommit(() => (reservation.renewing = setInterval(renew, RENEW_MS).unref()))
    }
    try {
      const response = await work(record)
      if (!recorded && isKept(response.status) && !response.pieces) {
        const row = rowOf(request, response)
        if (row.body.length > MAX_UNPAID) return response
        // Another node may have done the same work meanwhile, and it may be why this one was refused.
        await store.tx((tx) => write(tx, row))
      }
      isOver = true
      return response
    } finally {
      const { renewing } = reservation
      if (renewing) clearInterval(renewing)
      if (renewing && !isOver)
        await store.tx((tx) => deleteUnderWay(tx, request, name, Number.MAX_SAFE_INTEGER)).catch(() => {})
    }
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
            return await carryOut(request, work)
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
