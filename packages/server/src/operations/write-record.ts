// Writes the record of one request while its work is done. Work that takes several transactions reserves it first: a
// mark says that the request is under way, and is renewed until the response takes its place. idempotency.ts says what
// records are for.
import { randomBytes } from 'node:crypto'
import { unavailable, type Failure } from '../kernel/failure.ts'
import type { Logger } from '../kernel/logger.ts'
import type { Db, Store } from '../store/db.ts'
import {
  dateMark,
  deleteMark,
  insertRecord,
  replaceMark,
  UNDER_WAY,
  type RecordRow,
  type RequestKey,
} from './idempotency-rows.ts'
import { failureOf } from './recorded-response.ts'
import { refused, type OperationResponse } from './response.ts'

/** Thrown inside a transaction whose record another node wrote first, so that the transaction is rolled back. */
export class LostRace extends Error {}

/** The mark of a request that stopped halfway. Nobody carries it out. */
export interface LeftMark {
  /** Its body, by which it is replaced. */
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
  /**
   * Called in a transaction whose effect stays even if the rest of the work fails, before `reserve`: the audit log has
   * to show it. `resourceId` is the id of what was made.
   */
  begun(tx: Db, resourceId?: string): Promise<void>
  /** The progress of an equal request that did not come to its end. */
  earlier: object | null
  /** Takes the mark back in the transaction that undoes the work. False if there is none, or a response instead. */
  withdraw(tx: Db): Promise<boolean>
  /** Whether the mark is still this call's. Otherwise an equal request has taken the work over, on another node. */
  stands(tx: Db): Promise<boolean>
}

export const stillUnderWay = (): Failure => unavailable('The same request is still being carried out')

/** The marker that the body of a mark begins with, and what follows it. Older nodes read the mark as a refusal. */
const newMarker = (): string => `{"name":"${randomBytes(12).toString('hex')}"`
const markBody = (marker: string, progress?: object): string =>
  `${marker},${JSON.stringify({ ...failureOf(stillUnderWay()), progress }).slice(1)}`
export const leftMark = (body: string): LeftMark => ({ ...(JSON.parse(body) as { progress?: object }), left: body })

/** A node renews its mark of a request under way every ten seconds. If it has not for GONE_MS, the node is gone. */
const RENEW_MS = 10_000
export const GONE_MS = 30_000

interface WriteRecord {
  /** For the work. */
  readonly record: RecordResponse
  /** Writes the record. Throws `LostRace` if another node was first. */
  write(tx: Db, row: RecordRow): Promise<void>
  /** Whether the response is on disk. */
  isRecorded(): boolean
  /** The work has ended. A mark without a response is deleted, or left for an equal request to go on from. */
  end(): Promise<void>
}

interface WriteRecordTools {
  store: Store
  rowOf(request: RequestKey, response: OperationResponse): RecordRow
  now(): number
  log: Logger
}

export function makeWriteRecord(
  { store, rowOf, now, log }: WriteRecordTools,
  request: RequestKey,
  earlier: LeftMark | null,
): WriteRecord {
  const marker = newMarker()
  // The mark that this request replaces: the one that was left, until its own is on disk.
  let replaced = earlier?.left ?? null
  let renewing: NodeJS.Timeout | undefined
  let giveUp: ((tx: Db) => Promise<unknown>) | null = null
  let isRecorded = false

  async function write(tx: Db, row: RecordRow): Promise<void> {
    const written = await (replaced === null ? insertRecord(tx, request, row) : replaceMark(tx, request, replaced, row))
    if (written === 0) throw new LostRace()
    tx.afterCommit(() => (isRecorded = row.status !== UNDER_WAY))
  }
  function renew(): void {
    store
      .tx((tx) => dateMark(tx, request, marker, now()))
      .catch((error) =>
        log.warn(
          { err: error, tenant: request.tenantId, path: request.path },
          'the mark of a request under way was not renewed; another node may carry out the same request',
        ),
      )
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
  record.stands = async (tx: Db): Promise<boolean> => (await dateMark(tx, request, marker, now())) > 0

  return {
    record,
    write,
    isRecorded: () => isRecorded,
    async end() {
      clearInterval(renewing)
      if (giveUp && !isRecorded) await store.tx(giveUp).catch(() => {})
    },
  }
}
