// How memories are kept over time: by external id, with a history, and without duplicates.
import { operations } from '@sensorium/contract'
import { historyOf } from '../memory/history.ts'
import { prepareMerge, prepareTexts } from '../memory/prepare-texts.ts'
import { mergeMemories } from '../memory/merge.ts'
import { putMemory } from '../memory/put.ts'
import type { MemoryTools } from '../memory/remember.ts'
import { analyseVersion, restoreMemory } from '../memory/restore.ts'
import type { MemoryIndex } from '../memory/index/memory-index.ts'
import { likeMemory } from '../memory/like.ts'
import type { Similar } from '../memory/similar.ts'
import type { Store } from '../store/db.ts'
import { prepared, read, type Binding } from './binding.ts'
import { waitingPrincipal } from './call.ts'
import { shown } from './memories.ts'

interface MemoryKeepingTools extends MemoryTools {
  store: Store
  index: MemoryIndex
  similar: Similar
}

export const memoryKeepingOperations = (tools: MemoryKeepingTools): Binding[] => {
  const { now, store, similar } = tools
  return [
    prepared(operations.putMemory, async (call) => {
      const { principal, params, body, options } = call
      const { kept, ended } = await prepareTexts(tools, waitingPrincipal(call), body, params.external_id)
      return {
        run: async (tx) => {
          const { memory, outcome } = await putMemory(tx, tools, principal, params.external_id, body, kept)
          return shown(store, outcome === 'made' ? 201 : 200, memory, options)
        },
        ended,
      }
    }),

    read(operations.getMemoryHistory, async ({ principal, params }) => ({
      status: 200,
      ...(await historyOf(store, principal, params.id, now())),
    })),

    prepared(operations.restoreMemory, async (call) => {
      const { principal, params, body, options } = call
      const { written } = await analyseVersion(store, tools, waitingPrincipal(call), params.id, body.version)
      return {
        run: async (tx) =>
          shown(store, 200, await restoreMemory(tx, tools, principal, params.id, body.version), options),
        ended: written,
      }
    }),

    read(operations.findSimilarMemories, async ({ principal, params, query, options }) => ({
      status: 200,
      ...(await likeMemory(store, similar, principal, params.id, query, { now: now(), isBrief: options.brief })),
    })),

    prepared(operations.mergeMemories, async ({ principal, params, body, options }) => {
      const { memory_ids } = body
      const merge = await prepareMerge(tools, principal, params.id, memory_ids)
      return {
        run: async (tx) =>
          shown(store, 200, await mergeMemories(tx, tools, principal, params.id, memory_ids, merge), options),
        ended: merge.ended,
      }
    }),
  ]
}
