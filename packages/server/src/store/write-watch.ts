// Whether the store takes writes. A full disk, or a server that refuses writes, still answers every read, and commits
// every transaction that needs no room: an empty poll, an unknown id. So once a write was refused, it is not enough
// that other transactions succeed: a write that needs room has to.
import { randomBytes } from 'node:crypto'
import { statfsSync } from 'node:fs'
import path from 'node:path'
import { StoreUnavailable, type Db, type Store } from './db.ts'
import { removeSetting, writeSetting } from './setting.ts'

export interface WriteWatch {
  /** Reports why a transaction failed. */
  failed(error: unknown): void
  /** Rejects while writes are refused. */
  check(tx: Store['tx']): Promise<void>
}

/** A write that needs some room on the disk: a few bytes may still fit where larger writes do not. */
const PROBE_BYTES = 16_384

// Writes a row of its own that nobody reads, and that needs room on the disk.
const probe = (tx: Db): Promise<number> =>
  writeSetting(tx, 'write_probe', randomBytes((PROBE_BYTES * 3) / 4).toString('base64'))

const removeProbe = (tx: Db): Promise<number> => removeSetting(tx, 'write_probe')

class Undone extends Error {}

/** Writes something and rolls it back. Rejects if the write was refused. */
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
  /** Those who ask at once share it: /readyz needs no key. */
  let probing: Promise<void> | undefined

  async function tryAgain(tx: Store['tx']): Promise<void> {
    await tx(probe)
    // Otherwise the next probe would be written over this one, which needs no room.
    await tx(removeProbe)
    refused = false
  }

  return {
    failed(error) {
      refused ||= error instanceof StoreUnavailable && error.trouble !== 'busy'
    },
    async check(tx) {
      if (refused) await (probing ??= tryAgain(tx).finally(() => (probing = undefined)))
    },
  }
}

/** With less free space than this, the next checkpoint or the next large transaction will not fit. */
const LEAST_FREE_BYTES = 16 * 1_048_576

/** Throws if the disk of a file is as good as full. */
export function checkSpace(file: string): void {
  const { bavail, bsize } = statfsSync(path.dirname(file))
  if (bavail * bsize < LEAST_FREE_BYTES)
    throw new StoreUnavailable(`the disk is full: ${bavail * bsize} bytes are free`)
}
