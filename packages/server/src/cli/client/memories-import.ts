import { open, stat } from 'node:fs/promises'
import { Misused, type ClientRun } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { cleanLine } from '../terminal/clean.ts'
import { progress } from '../terminal/progress.ts'

/** Refused lines that a person is shown. */
const SHOWN = 10
const KIB = 1_024

export const run: ClientRun = async ({ args: [given], client, signal }) => {
  const file = given!
  const size = await stat(file).catch((error: Error) => {
    throw new Misused(`${file} cannot be read: ${error.message}`, 'a file')
  })
  const shown = progress('KiB')
  const total = Math.ceil(size.size / KIB)
  let read = 0
  const handle = await open(file)
  async function* lines(): AsyncGenerator<string> {
    // Not readLines(): that ends a line at U+2028 too, which stands inside of JSON texts as any other character.
    let rest = ''
    for await (const chunk of handle.createReadStream({ encoding: 'utf8', autoClose: false })) {
      const whole = `${rest}${chunk as string}`.split('\n')
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
      progress: () => shown.show(Math.min(total, Math.ceil(read / KIB)), total),
    })
    const { created, updated, skipped, failed, errors } = json
    const refused = errors.slice(0, SHOWN).map(({ line, error }) => `line ${line}: ${cleanLine(error.message)}`)
    const more = failed > refused.length ? [`and ${failed - refused.length} more`] : []
    const counts = `${created} created, ${updated} updated, ${skipped} skipped, ${failed} refused.`
    return { json, text: [...refused, ...more, counts].join('\n'), exitCode: failed > 0 ? EXIT.failed : 0 }
  } finally {
    shown.end()
    await handle.close()
  }
}
