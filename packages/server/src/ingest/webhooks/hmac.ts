// The HMAC of a body. A short body is hashed on this thread, a long one in the thread pool, where few may run at a
// time; those places are shared fairly between client addresses.
import { createHmac, webcrypto } from 'node:crypto'
import { makeCounts } from '../../kernel/counts.ts'
import { unavailable } from '../../kernel/failure.ts'
import { fairQueue } from '../../kernel/fair-queue.ts'

export type Hmac = (secret: string | Buffer, prefix: string, body: Buffer) => Buffer | Promise<Buffer>

/** Hashing 16 KiB takes about 20 µs, less than handing them to another thread. */
export const HASHED_HERE_BYTES = 16_384
const ALGORITHM = { name: 'HMAC', hash: 'SHA-256' }

export const hmacSha256: Hmac = (secret, prefix, body) =>
  body.length <= HASHED_HERE_BYTES
    ? createHmac('sha256', secret).update(prefix).update(body).digest()
    : inThreadPool(secret, prefix, body)

async function inThreadPool(secret: string | Buffer, prefix: string, body: Buffer): Promise<Buffer> {
  const key = await webcrypto.subtle.importKey(
    'raw',
    typeof secret === 'string' ? Buffer.from(secret) : secret,
    ALGORITHM,
    false,
    ['sign'],
  )
  const bytes = prefix === '' ? body : Buffer.concat([Buffer.from(prefix), body])
  return Buffer.from(await webcrypto.subtle.sign('HMAC', key, bytes))
}

/** The pool has four threads, and every commit of the embedded store needs one for its fsync. */
const AT_A_TIME = 2
const MAX_WAITING_BYTES = 134_217_728
const MAX_WAITING_BYTES_OF_ADDRESS = 33_554_432

/** Runs work on long bodies, a few at a time. Addresses take turns, and within an address its slugs do. */
type TakeTurn = <T>(address: string, slug: string, bytes: number, work: () => Promise<T>) => Promise<T>

export function makeHmacTurns(): TakeTurn {
  const waiting = fairQueue<() => void>()
  const bytesOf = makeCounts()
  let waitingBytes = 0
  let free = AT_A_TIME

  async function wait(address: string, slug: string, bytes: number): Promise<void> {
    if (waitingBytes + bytes > MAX_WAITING_BYTES || bytesOf.of(address) + bytes > MAX_WAITING_BYTES_OF_ADDRESS)
      throw unavailable('Too many large webhook requests are waiting')
    bytesOf.add(address, bytes)
    waitingBytes += bytes
    await new Promise<void>((go) => waiting.push(address, slug, go))
    waitingBytes -= bytes
    bytesOf.add(address, -bytes)
  }

  return async (address, slug, bytes, work) => {
    if (free > 0) free--
    else await wait(address, slug, bytes)
    try {
      return await work()
    } finally {
      // The place passes to the next waiter without becoming free in between.
      const next = waiting.next()
      if (next) next()
      else free++
    }
  }
}
