// A line of output, told when it is out: what nobody reads any more was not printed.
import type { Writable } from 'node:stream'

/** Whoever read the output has ended, `head` for one. */
export class OutputClosed extends Error {}

const CLOSED = ['EPIPE', 'ERR_STREAM_DESTROYED', 'ERR_STREAM_WRITE_AFTER_END']

/** Rejects where it could not be written: with `OutputClosed`, or with what the disk says. */
export const writeLine = (stream: Writable, line: string): Promise<void> =>
  new Promise((resolve, reject) => {
    stream.write(`${line}\n`, (error: NodeJS.ErrnoException | null | undefined) => {
      if (!error) resolve()
      else reject(CLOSED.includes(error.code ?? '') ? new OutputClosed('Nobody reads the output any more.') : error)
    })
  })
