// Keeps a body that may be long in a file while it arrives, so that it needs no memory and a slow sender holds up
// nothing but itself. The file has no name once it is open: it is gone with the request, or the process.
import { createHash } from 'node:crypto'
import { mkdtemp, open, rm, type FileHandle } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { tooLarge, unavailable } from '../kernel/failure.ts'
import type { Payload } from '../operations/call.ts'
import type { Exchange } from './exchange.ts'

/** Bytes of the file that are read at a time. */
const PIECE = 65_536

/** The folder for temporary files is full or missing, which is not the fault of the request. */
const noRoom = () => unavailable('There is no room to keep the body while it arrives', 60)

async function openNameless(): Promise<FileHandle> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'sensorium-'))
  try {
    return await open(path.join(folder, 'body'), 'wx+', 0o600)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Writes the body to the file; returns how long it was and its hash. */
function receive(exchange: Exchange, file: FileHandle, limit: number): Promise<{ bytes: number; hash: string }> {
  const { request: stream } = exchange
  const reading = (exchange.reading = { bytes: 0, seconds: 0 })
  const hash = createHash('sha256')
  return new Promise((resolve, reject) => {
    let written: Promise<unknown> = Promise.resolve()
    const stop = (error: unknown): void => {
      stream.removeAllListeners('data')
      exchange.reading = null
      reject(error)
    }
    stream.on('data', (chunk: Buffer) => {
      reading.bytes += chunk.length
      if (reading.bytes > limit) return stop(tooLarge(reading.bytes, limit))
      hash.update(chunk)
      // The next chunk comes when this one is written.
      stream.pause()
      // `appendFile` goes on after a short write; `write` does not.
      written = file.appendFile(chunk).then(
        () => void stream.resume(),
        () => stop(noRoom()),
      )
    })
    stream.once('end', () => {
      exchange.reading = null
      void written.then(() => resolve({ bytes: reading.bytes, hash: hash.digest('base64url') }))
    })
    stream.once('error', reject)
    stream.once('close', () => stream.readableEnded || reject(new Error('the client went away')))
  })
}

async function* piecesOf(file: FileHandle, bytes: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes; ) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(PIECE), 0, PIECE, at)
    if (bytesRead === 0) return
    yield buffer.subarray(0, bytesRead)
    at += bytesRead
  }
}

/** Returns a payload that reads as pieces of bytes. Its file is closed with the response. */
export async function spoolBody(exchange: Exchange, limit: number): Promise<Payload> {
  const declared = Number(exchange.headers['content-length'] ?? Number.NaN)
  if (declared > limit) throw tooLarge(declared, limit)
  const file = await openNameless().catch(() => {
    throw noRoom()
  })
  if (exchange.hasResponse || exchange.isClientGone()) {
    await file.close()
    throw new Error('the client went away, or was refused')
  }
  // A reader may still be using the file: its reading then ends.
  exchange.response.once('close', () => void file.close().catch(() => {}))
  const { bytes, hash } = exchange.hasBody ? await receive(exchange, file, limit) : { bytes: 0, hash: '' }
  return { isEmpty: bytes === 0, hash: () => hash, read: () => piecesOf(file, bytes) }
}
