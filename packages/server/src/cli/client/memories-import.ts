import { open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { UsageError, type ClientRun } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { cleanLine } from '../terminal/clean.ts'
import { progress } from '../terminal/progress.ts'

/** How many refused lines are shown to a person. */
const SHOWN = 10
const KIB = 1_024

interface Source {
  stream: Readable
  /** In bytes; 0 if it is unknown. */
  size: number
  close(): Promise<void>
}

/** Whether bytes begin like a file of gzip. No text in UTF-8 does. */
const isGzip = (bytes: Buffer): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b

async function openFile(file: string): Promise<Source> {
  if (file === '-') return { stream: process.stdin, size: 0, close: async () => {} }
  const refused = (why: string): UsageError => new UsageError(`${file} cannot be read: ${why}`, 'a file')
  const handle = await open(file).catch((error: Error) => {
    throw refused(error.message)
  })
  const status = await handle.stat()
  if (status.isDirectory()) {
    await handle.close()
    throw refused('it is a folder')
  }
  const stream = handle.createReadStream({ autoClose: false })
  return { stream, size: status.size, close: () => handle.close() }
}

export const run: ClientRun = async ({ args: [given], client, signal }) => {
  const { stream, size, close } = await openFile(given!)
  const shown = progress('KiB')
  const total = Math.ceil(size / KIB)
  let read = 0
  async function* lines(): AsyncGenerator<string> {
    // Not readLines(): it also ends a line at U+2028, which may occur inside JSON strings like any other character.
    // The decoder removes the byte order mark that some editors write.
    const decoder = new TextDecoder()
    let rest = ''
    for await (const chunk of stream) {
      if (read === 0 && rest === '' && isGzip(chunk as Buffer))
        throw new UsageError(
          'The file is compressed: unpack it, as in `gunzip -c FILE | sensorium memories import -`',
          'JSON lines',
        )
      const whole = `${rest}${decoder.decode(chunk as Buffer, { stream: true })}`.split('\n')
      rest = whole.pop()!
      for (const line of whole) {
        read += Buffer.byteLength(line) + 1
        yield line
      }
    }
    read += Buffer.byteLength(rest)
    if (rest !== '') yield rest
  }
  try {
    const json = await client.memory.import(lines(), {
      signal,
      progress: () => {
        const done = Math.ceil(read / KIB)
        // The size of piped input is unknown.
        if (total > 0) shown.show(Math.min(total, done), total)
      },
    })
    const { created, updated, skipped, failed, errors } = json
    const refused = errors.slice(0, SHOWN).map(({ line, error }) => `line ${line}: ${cleanLine(error.message)}`)
    const more = failed > refused.length ? [`and ${failed - refused.length} more`] : []
    const counts = `${created} created, ${updated} updated, ${skipped} skipped, ${failed} refused.`
    return { json, text: [...refused, ...more, counts].join('\n'), exitCode: failed > 0 ? EXIT.failed : 0 }
  } finally {
    shown.end()
    await close()
  }
}
