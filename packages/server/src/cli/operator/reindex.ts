import { makeLogger } from '../../kernel/logger.ts'
import { makeMemory } from '../../memory/make-memory.ts'
import { reindex as reindexMemories } from '../../memory/reindex.ts'
import type { OperatorRun } from '../command.ts'
import { progress } from '../terminal/progress.ts'

export const run: OperatorRun = async ({ config, clock, withStore }) => {
  const shown = progress('memories')
  return withStore(async (store) => {
    let reason: Error | undefined
    const quiet = makeLogger('silent')
    const log = { ...quiet, warn: ({ err }: { err?: Error }) => void (reason = err) } as typeof quiet
    const memory = makeMemory({ config: config(), store, clock, log })
    try {
      const memories = await reindexMemories(
        { store, embedding: memory.embedding, model: memory.model, clock, failure: () => reason },
        shown.show,
      )
      return {
        json: { memories, model: memory.model },
        text: `${memories} memories are embedded with ${memory.model}.`,
      }
    } finally {
      shown.end()
      await memory.close()
    }
  })
}
