import { makeLogger } from '../kernel/logger.ts'
import { makeMemory } from '../memory/make-memory.ts'
import { reindex as reindexMemories } from '../memory/reindex.ts'
import type { Command } from './command.ts'

const WIDTH = 30

/** `[##########--------------------]  33%  120 of 360` */
export function bar(done: number, total: number): string {
  const share = total === 0 ? 1 : done / total
  const filled = Math.floor(share * WIDTH)
  return `[${'#'.repeat(filled)}${'-'.repeat(WIDTH - filled)}] ${String(Math.floor(share * 100)).padStart(3)}%  ${done} of ${total}`
}

export const reindex: Command = {
  words: ['reindex'],
  parameters: [],
  summary: 'Embed every memory again, beside a running service',
  async run({ config, clock, withStore }) {
    // On standard error, so that --json has standard output for itself. A terminal sees one line that moves.
    const { isTTY } = process.stderr
    let shown = ''
    const show = (done: number, total: number): void => {
      const line = bar(done, total)
      if (line === shown) return
      shown = line
      process.stderr.write(isTTY ? `\r${line}` : `${line}\n`)
    }
    return withStore(async (store) => {
      let reason: Error | undefined
      const quiet = makeLogger('silent')
      const log = { ...quiet, warn: ({ err }: { err?: Error }) => void (reason = err) } as typeof quiet
      const memory = makeMemory({ config: config(), store, clock, log })
      try {
        const memories = await reindexMemories(
          { store, embedding: memory.embedding, model: memory.model, clock, failure: () => reason },
          show,
        )
        return {
          json: { memories, model: memory.model },
          text: `${memories} memories are embedded with ${memory.model}.`,
        }
      } finally {
        if (isTTY && shown) process.stderr.write('\n')
        await memory.close()
      }
    })
  },
}
