// Whether the store takes writes. A disk that is full, or a server that refuses, still answers every read: so once a
// write was refused, being reached is not enough, and one has to succeed first.
import { randomBytes } from 'node:crypto'
import { statfsSync } from 'node:fs'
import path from 'node:path'
import { StoreUnavailable, type Db, type Store } from './db.ts'

export interface WriteWatch {
  /** A transaction ended so; an error of its own means that the store did answer. */
  ended(error?: unknown): void
  /** Rejects while writes are refused. */
  check(tx: Store['tx']): Promise<void>
}

/** A write that needs some place on the disk: a few bytes may still fit where larger writes do not. */
const PROBE_BYTES = 16_384

// Writes one row of its own, which nobody reads; needs room for it.
const probe = (tx: Db): Promise<number> =>
  tx.run(
    "insert into settings (name, value) values ('write_probe', ?) on conflict (name) do update set value = excluded.value",
    [randomBytes((PROBE_BYTES * 3) / 4).toString('base64')],
  )

class Undone extends Error {}

/** Writes something and takes it back; rejects where it was refused. */
export const tryWrite = (store: Store): Promise<void> =>
  store
    .tx(async (tx) => {
      await probe(tx)
      throw new Undone()
    })
    .catch((error: unknown) => {
      if (!(error instanceof Undone)) throw error
    })

export function makeWriteWatch(): WriteWatch {
  let refused = false
  return {
    ended(error) {
      refused = error instanceof StoreUnavailable ? refused || error.trouble !== 'busy' : false
    },
    async check(tx) {
      if (refused) await tx(probe)
    },
  }
}

/** Below this the next checkpoint, or the next large transaction, will not find its place. */
const LEAST_FREE_BYTES = 16 * 1_048_576

/** Refuses where the disk of a file is as good as full. */
export function checkSpace(file: string): void {
  const { bavail, bsize } = statfsSync(path.dirname(file))
  if (bavail * bsize < LEAST_FREE_BYTES)
    throw new StoreUnavailable(`the disk is full: ${bavail * bsize} bytes are free`)
}
