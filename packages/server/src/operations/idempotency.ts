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
import { createHash, randomBytes, webcrypto } from 'node:crypto'
import type { Secrets } from '../kernel/secrets.ts'
import type { Clock } from '../kernel/clock.ts'
import { keyReused, unavailable, type Failure } from '../kernel/failure.ts'
import type { Db, Store } from '../store/db.ts'
import { purge, type Aging } from '../store/purge.ts'
import {
  dateMark,
  deleteMark,
  findRecord,
  insertRecord,
  replaceMark,
  UNDER_WAY,
  type RecordRow,
  type RequestKey,
} from './idempotency-rows.ts'
import { failureOf, makeRecordedResponses, requestName } from './recorded-response.ts'
import { refused, type OperationResponse } from './response.ts'

/** Selects records that are past their retention. */
const RECORDS: Aging = {
  table: 'idempotency',
  key: ['principal_id', 'method', 'path', 'idempotency_key'],
  age: 'created_at',
}
const RETENTION_MS = 24 * 3_600_000

/** Thrown inside a transaction whose record another node wrote first, so that the transaction is rolled back. */
class LostRace extends Error {}

export interface Idempotency {
  /** Runs `work`, unless an equal request was carried out before: then returns its response again, as `replayed`. */
  runOnce(request: RequestKey, work: (record: RecordResponse) => Promise<OperationResponse>): Promise<OperationResponse>
  /** Deletes all records older than the retention, in small batches so that nobody waits long. Returns how many. */
  purge(): Promise<number>
}

/** The mark of a request that stopped halfway. Nobody carries it out. */
interface LeftMark {
  left: string
  progress?: object
}

/** Writes the record of a response in the transaction of its effect. */
export interface RecordResponse {
  (tx: Db, response: OperationResponse): Promise<void>
  /**
   * Marks the request as under way in the first of several transactions, so that an equal request on another node waits
   * for its response. Without the mark, the other request would find the work half done. Work that can go on after a
   * failure or a crash calls this in every transaction but the last, with what it needs for that as `progress`.
   */
  reserve(tx: Db, progress?: object): Promise<void>
  /** Called in a transaction whose effect stays even if the rest of the work fails: the audit log has to show it. */
  begun(tx: Db): Promise<void>
  /** The progress of an equal request that did not come to its end. */
  earlier: object | null
  /** Takes the mark back in the transaction that undoes the work. False if there is none, or a response instead. */
  withdraw(tx: Db): Promise<boolean>
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

const stillUnderWay = (): Failure => unavailable('The same request is still being carried out')

/** The marker that the body of a mark begins with, and what follows it. Older nodes read the mark as a refusal. */
const newMarker = (): string => `{"name":"${randomBytes(12).toString('hex')}"`
const markBody = (marker: string, progress?: object): string =>
  `${marker},${JSON.stringify({ ...failureOf(stillUnderWay()), progress }).slice(1)}`
const leftMark = (body: string): LeftMark => ({ ...(JSON.parse(body) as { progress?: object }), left: body })

/** A node renews its mark of a request under way every ten seconds. If it has not for GONE_MS, the node is gone. */
const RENEW_MS = 10_000
const GONE_MS = 30_000
/** How long an equal request waits for the response of another node, and how often it looks. */
const WAIT_MS = 15_000
const LOOK_AGAIN_MS = 100

export function makeIdempotency(store: Store, secrets: Secrets, clock: Clock): Idempotency {
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
    const marker = newMarker()
    // The mark that this request replaces: the one that was left, until its own is on disk.
    let replaced = earlier?.left ?? null
    let renewing: NodeJS.Timeout | undefined
    let giveUp: ((tx: Db) => Promise<unknown>) | null = null
    let isRecorded = false

    async function write(tx: Db, row: RecordRow): Promise<void> {
      const written = await (replaced === null
        ? insertRecord(tx, request, row)
        : replaceMark(tx, request, replaced, row))
      if (written === 0) throw new LostRace()
      tx.afterCommit(() => (isRecorded = row.status !== UNDER_WAY))
    }
    function renew(): void {
      store.tx((tx) => dateMark(tx, request, marker, now())).catch(() => {})
    }
    const record = async (tx: Db, response: OperationResponse): Promise<void> => write(tx, rowOf(request, response))
    record.reserve = async (tx: Db, progress?: object): Promise<void> => {
      // Also if nobody knows whether this transaction was written.
      giveUp = (db) => (progress ? dateMark(db, request, marker, now() - GONE_MS) : deleteMark(db, request, marker))
      await write(tx, { ...rowOf(request, refused(stillUnderWay())), body: markBody(marker, progress) })
      tx.afterCommit(() => {
        replaced = marker
        renewing ??= setInterval(renew, RENEW_MS).unref()
      })
    }
    record.begun = async (): Promise<void> => {}
    record.earlier = earlier?.progress ?? null
    record.withdraw = async (tx: Db): Promise<boolean> => (await deleteMark(tx, request, marker)) > 0
    try {
      const response = await work(record)
      if (!isRecorded && isKept(response.status) && !response.pieces) {
        const row = rowOf(request, response)
        if (row.body.length > MAX_RECORDED_READ) return response
        // Another node may have done the same work meanwhile, which may be why this request was refused.
        await store.tx((tx) => write(tx, row))
      }
      return response
    } finally {
      clearInterval(renewing)
      if (giveUp && !isRecorded) await store.tx(giveUp).catch(() => {})
    }
  }

  return {
    async runOnce(request, work) {
      const name = requestName(request)
      while (running.has(name)) await running.get(name)
      let finished!: () => void
      running.set(name, new Promise((resolve) => (finished = resolve)))
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
        finished()
      }
    },
    purge: () => purge(store, RECORDS, now() - RETENTION_MS - 3_600_000),
  }
}
