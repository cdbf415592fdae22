// Idempotency keys: the same request sent twice has one effect and one response.
//
// 1. The record of a response commits in the transaction of the effect it reports, so neither can exist without the
//    other.
// 2. Two equal requests on one node: the second waits for the first. On two nodes: the primary key lets one commit; the
//    other rolls back and responds with what the first one stored. Work that takes several transactions is marked as
//    under way in the first of them, and the other node waits for its response. If such work stops halfway, the mark
//    tells how far it came, and the next equal request goes on from there.
// 3. A refusal (4xx) that would come out the same again is recorded too; 401, 403, 429 and 5xx never are.
// 4. A record is small. Of a long memory it keeps all but the title, content and metadata, which the memory or its
//    history has. A long response to a call that changes nothing is not recorded. Otherwise a request of a hundred
//    bytes with a key would take ten megabytes on disk for a day.
// 5. A response that shows a secret is stored encrypted, and returned again only to the API key that requested it.
import { createHash, webcrypto } from 'node:crypto'
import type { Secrets } from '../kernel/secrets.ts'
import type { Clock } from '../kernel/clock.ts'
import { keyReused } from '../kernel/failure.ts'
import type { Logger } from '../kernel/logger.ts'
import type { Store } from '../store/db.ts'
import { purge, type Aging } from '../store/purge.ts'
import { findRecord, UNDER_WAY, type RequestKey } from './idempotency-rows.ts'
import { makeRecordedResponses, requestName } from './recorded-response.ts'
import type { OperationResponse } from './response.ts'
import {
  GONE_MS,
  leftMark,
  LostRace,
  makeWriteRecord,
  stillUnderWay,
  type LeftMark,
  type RecordResponse,
} from './write-record.ts'

/** Selects records that are past their retention. */
const RECORDS: Aging = {
  table: 'idempotency',
  key: ['principal_id', 'method', 'path', 'idempotency_key'],
  age: 'created_at',
}
/** Longer than the 24 hours that are promised, so that a retry in the last minute still finds its record. */
const KEPT_MS = 25 * 3_600_000

export interface Idempotency {
  /** Runs `work`, unless an equal request was carried out before: then returns its response again, as `replayed`. */
  runOnce(request: RequestKey, work: (record: RecordResponse) => Promise<OperationResponse>): Promise<OperationResponse>
  /** Deletes all records older than the retention, in small batches so that nobody waits long. Returns how many. */
  purge(): Promise<number>
}

/** A longer response to a call that changed nothing is not recorded; a retry computes it again. */
export const MAX_RECORDED_READ = 65_536

export const hashBody = (...parts: (string | Uint8Array)[]): string => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('base64url')
}

/** From this many bytes on, a thread of the pool computes the hash: 10 MB take 10 to 30 ms. */
const LARGE = 262_144

export const hashLarge = async (body: Buffer): Promise<string> =>
  body.length < LARGE
    ? hashBody(body)
    : Buffer.from(await webcrypto.subtle.digest('SHA-256', body as Buffer<ArrayBuffer>)).toString('base64url')

/** A recorded refusal would be the same next time: it depends on the request alone, or on what the key stands for. */
const isKept = (status: number): boolean => status < 500 && ![401, 403, 429].includes(status)

/** How long an equal request waits for the response of another node, and how often it looks. */
const WAIT_MS = 15_000
const LOOK_AGAIN_MS = 100

export function makeIdempotency(store: Store, secrets: Secrets, clock: Clock, log: Logger): Idempotency {
  const { now } = clock
  const { rowOf, responseOf } = makeRecordedResponses(store, secrets, now)
  const running = new Map<string, Promise<void>>()

  /**
   * Returns the response to an equal request, the mark of one that did not come to its end, or null if there was none.
   * Waits for one under way on another node.
   */
  async function stored(request: RequestKey): Promise<OperationResponse | LeftMark | null> {
    const deadline = clock.elapsed() + WAIT_MS
    for (;;) {
      const row = await findRecord(store, request)
      if (!row) return null
      if (row.body_hash !== request.bodyHash) throw keyReused(request.key, row.resource_id)
      if (row.status !== UNDER_WAY) return responseOf(request, row)
      // With one node, a request that is not running here was left by a process that is gone.
      if (!store.isShared || row.created_at <= now() - GONE_MS) return leftMark(row.body)
      if (clock.elapsed() >= deadline) throw stillUnderWay()
      await clock.sleep(LOOK_AGAIN_MS)
    }
  }

  /** Carries out the request and writes its record. Throws `LostRace` if another node was first. */
  async function runAndRecord(
    request: RequestKey,
    earlier: LeftMark | null,
    work: (record: RecordResponse) => Promise<OperationResponse>,
  ): Promise<OperationResponse> {
    const { record, write, isRecorded, end } = makeWriteRecord({ store, rowOf, now, log }, request, earlier)
    try {
      const response = await work(record)
      if (!isRecorded() && isKept(response.status) && !response.pieces) {
        const row = rowOf(request, response)
        if (row.body.length > MAX_RECORDED_READ) return response
        // Another node may have done the same work meanwhile, which may be why this request was refused.
        await store.tx((tx) => write(tx, row))
      }
      return response
    } finally {
      await end()
    }
  }

  return {
    async runOnce(request, work) {
      const name = requestName(request)
      while (running.has(name)) await running.get(name)
      const finished = Promise.withResolvers<void>()
      running.set(name, finished.promise)
      try {
        for (;;) {
          const earlier = await stored(request)
          if (earlier && 'status' in earlier) return earlier
          try {
            return await runAndRecord(request, earlier, work)
          } catch (error) {
            if (!(error instanceof LostRace)) throw error
          }
        }
      } finally {
        running.delete(name)
        finished.resolve()
      }
    },
    purge: () => purge(store, RECORDS, now() - KEPT_MS),
  }
}
