import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Misused, type ClientRun } from '../command.ts'
import { cleanJsonText } from '../terminal/clean.ts'
import { givenOnly } from './read-input.ts'

export const run: ClientRun = async ({ args: [file], options, client, write, signal }) => {
  const json = { memories: 0, relationships: 0 }
  async function* lines(): AsyncGenerator<string> {
    for await (const line of client.memory.exportLines(givenOnly({ since: options['since'] }), { signal })) {
      json[line.startsWith('{"id":"rel_') ? 'relationships' : 'memories']++
      yield `${line}\n`
    }
  }
  if (file === '-') {
    // Who reads may be slower than the service: what it has not taken is not gathered here.
    for await (const line of lines()) await write(cleanJsonText(line.trimEnd()))
    return { json: undefined, text: '' }
  }
  // Of a folder that is not there, or a file that is: nothing is written over.
  const written = createWriteStream(file!, { flags: 'wx', mode: 0o600 })
  await pipeline(Readable.from(lines()), written).catch((error: NodeJS.ErrnoException) => {
    if (error.syscall === 'open') throw new Misused(`${file} cannot be written: ${error.message}`, 'a new file')
    throw error
  })
  return { json, text: `${json.memories} memories and ${json.relationships} relationships are in ${file}.` }
}
