import { createWriteStream, existsSync, renameSync, rmSync } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { UsageError, type ClientRun } from '../command.ts'
import { pastTime } from '../past-time.ts'
import { cleanJsonText } from '../terminal/clean.ts'
import { withoutUndefined } from './support/read-input.ts'

/**
 * Writes a file that did not exist. It has its name only once it is complete: an export that broke off would look like
 * a complete one, and the next could not take its place.
 */
async function writeWhole(file: string, lines: AsyncIterable<string>): Promise<void> {
  const refused = (why: string) => new UsageError(`${file} cannot be written: ${why}`, 'a new file')
  if (existsSync(file)) throw refused('it exists')
  const partial = `${file}.partial`
  rmSync(partial, { force: true })
  try {
    await pipeline(Readable.from(lines), createWriteStream(partial, { flags: 'wx', mode: 0o600 }))
    renameSync(partial, file)
  } catch (error) {
    const { syscall, message } = error as NodeJS.ErrnoException
    throw syscall === 'open' ? refused(message) : error
  } finally {
    rmSync(partial, { force: true })
  }
}

export const run: ClientRun = async ({ args: [file], options, client, write, signal }) => {
  const json = { memories: 0, relationships: 0 }
  const since = withoutUndefined({ since: pastTime('since', options) })
  async function* lines(): AsyncGenerator<string> {
    for await (const line of client.memory.exportLines(since, { signal })) {
      json[line.startsWith('{"id":"rel_') ? 'relationships' : 'memories']++
      yield `${line}\n`
    }
  }
  if (file === '-') {
    // Waits for each write, so that lines do not pile up in memory if the reader is slower than the service.
    for await (const line of lines()) await write(cleanJsonText(line.trimEnd()))
    return { json: undefined, text: '' }
  }
  await writeWhole(file!, lines())
  const memories = json.memories === 1 ? '1 memory' : `${json.memories} memories`
  const relationships = json.relationships === 1 ? '1 relationship' : `${json.relationships} relationships`
  return { json, text: `${memories} and ${relationships} are in ${file}.` }
}
