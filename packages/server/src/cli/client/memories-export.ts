import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { UsageError, type ClientRun } from '../command.ts'
import { cleanJsonText } from '../terminal/clean.ts'
import { withoutUndefined } from './read-input.ts'

export const run: ClientRun = async ({ args: [file], options, client, write, signal }) => {
  const json = { memories: 0, relationships: 0 }
  async function* lines(): AsyncGenerator<string> {
    for await (const line of client.memory.exportLines(withoutUndefined({ since: options['since'] }), { signal })) {
      json[line.startsWith('{"id":"rel_') ? 'relationships' : 'memories']++
      yield `${line}\n`
    }
  }
  if (file === '-') {
    // Waits for each write, so that lines do not pile up in memory if the reader is slower than the service.
    for await (const line of lines()) await write(cleanJsonText(line.trimEnd()))
    return { json: undefined, text: '' }
  }
  // Fails if the folder does not exist or the file does: nothing is overwritten.
  const written = createWriteStream(file!, { flags: 'wx', mode: 0o600 })
  await pipeline(Readable.from(lines()), written).catch((error: NodeJS.ErrnoException) => {
    if (error.syscall === 'open') throw new UsageError(`${file} cannot be written: ${error.message}`, 'a new file')
    throw error
  })
  return { json, text: `${json.memories} memories and ${json.relationships} relationships are in ${file}.` }
}
