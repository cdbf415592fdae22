// Buffers lines on their way to a file descriptor: they are copied at once, and written together off the main thread. A
// line costs half a microsecond; in a growing string, which has to be flattened and measured, it cost four. If the
// reader is slower than the lines come, lines are dropped and counted: a log must not use up the memory.
import { write, writeSync } from 'node:fs'

export interface LineBuffer {
  write(line: string): void
  /** Calls `done` when everything written so far is out. */
  flush(done?: (error?: Error | null) => void): void
  /** Writes everything out before it returns, for a process that ends. */
  flushSync(): void
}

const SIZE = 65_536
/** A buffer is written as soon as it is half full, or after this long. */
const LATEST_MS = 200
/** The wait before a retry when the pipe is full, because its reader is slower than us for a moment. */
const TRY_AGAIN_MS = 5

/** How many bytes wait to be written, at most. */
const MOST_WAITING = 16_777_216

interface LineBufferOptions {
  /** The most that is written at once, except for a line that is longer. */
  size?: number
  mostWaiting?: number
  /** Returns the line that tells how many lines were dropped. */
  dropped?: (count: number) => string
}

export function lineBuffer(
  fd: number,
  { size = SIZE, mostWaiting = MOST_WAITING, dropped = () => '' }: LineBufferOptions = {},
): LineBuffer {
  let filling = Buffer.allocUnsafe(size)
  let used = 0
  const full: Buffer[] = []
  let fullBytes = 0
  let droppedLines = 0
  let writing = false
  let timer: NodeJS.Timeout | null = null
  let waiting: ((error?: Error | null) => void)[] = []

  function push(bytes: Buffer): void {
    full.push(bytes)
    fullBytes += bytes.length
  }

  function seal(): void {
    if (used === 0) return
    push(filling.subarray(0, used))
    filling = Buffer.allocUnsafe(size)
    used = 0
  }

  function add(line: string): void {
    const most = line.length * 3
    if (used + most > size) seal()
    if (most > size) push(Buffer.from(line))
    else used += filling.write(line, used)
  }

  function tellDropped(): void {
    if (droppedLines === 0) return
    add(dropped(droppedLines))
    droppedLines = 0
  }

  function send(): void {
    if (writing) return
    if (full.length === 0) tellDropped()
    if (full.length === 0) seal()
    const next = full[0]
    if (!next) {
      const done = waiting
      waiting = []
      for (const call of done) call()
      return
    }
    writing = true
    write(fd, next, 0, next.length, null, (error, written) => {
      writing = false
      if (error && error.code === 'EAGAIN') return void setTimeout(send, TRY_AGAIN_MS)
      // The reader is gone: lines that cannot be written are dropped, since a service must not end because of its log.
      fullBytes -= error ? next.length : written
      if (error || written === next.length) full.shift()
      else full[0] = next.subarray(written)
      if (full.length > 0 || waiting.length > 0) send()
      // Lines that came during the write were not sent, and perhaps no other line follows to send them.
      else if (used > 0 || droppedLines > 0) sendSoon()
    })
  }

  function sendSoon(): void {
    timer ??= setTimeout(() => {
      timer = null
      send()
    }, LATEST_MS).unref()
  }

  return {
    write(line) {
      if (fullBytes >= mostWaiting) return void droppedLines++
      tellDropped()
      add(line)
      if (used >= size / 2 || full.length > 0) send()
      else sendSoon()
    },
    flush(done) {
      if (done) waiting.push(done)
      send()
    },
    flushSync() {
      tellDropped()
      seal()
      fullBytes = 0
      for (let chunk = full.shift(); chunk; chunk = full.shift()) {
        try {
          for (let at = 0; at < chunk.length; ) at += writeSync(fd, chunk, at)
        } catch {
          return
        }
      }
    },
  }
}
