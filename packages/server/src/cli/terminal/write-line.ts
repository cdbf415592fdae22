// Writes a line of output and waits until it is written: a line that the reader no longer takes was not printed.
import type { Writable } from 'node:stream'

/** The reader of the output has ended, for example `head`. */
export class OutputClosed extends Error {}

const CLOSED = ['EPIPE', 'ERR_STREAM_DESTROYED', 'ERR_STREAM_WRITE_AFTER_END']

/** Returns what a command fails with after a write that failed: `OutputClosed`, or the error of the system. */
export const outputError = (error: NodeJS.ErrnoException): Error =>
  CLOSED.includes(error.code ?? '') ? new OutputClosed('Nobody reads the output any more.') : error

/** Rejects if the line could not be written: with `OutputClosed`, or with the error of the system. */
export const writeLine = (stream: Writable, line: string): Promise<void> =>
  new Promise((resolve, reject) => {
    stream.write(`${line}\n`, (error: NodeJS.ErrnoException | null | undefined) => {
      if (!error) resolve()
      else reject(outputError(error))
    })
  })
