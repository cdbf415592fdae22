// How memories are kept over time: by external id, history and restore.
import { operations } from '@sensorium/contract'
import { historyOf } from '../memory/history.ts'
import { putMemory } from '../memory/put.ts'
import type { MemoryTools } from '../memory/remember.ts'
import { restoreMemory } from '../memory/restore.ts'
import type { Store } from '../store/db.ts'
import { read, write, type Binding } from './binding.ts'
import { shown } from './memories.ts'

export const memoryKeepingOperations = (tools: MemoryTools & { store: Store }): Binding[] => {
  const { now, store } = tools
  return [
    write(operations.putMemory, async ({ principal, params, body, options }, tx) => {
      const { memory, outcome } = await putMemory(tx, tools, principal, params.external_id, body)
      return shown(outcome === 'made' ? 201 : 200, memory, options)
    }),

    read(operations.getMemoryHistory, async ({ principal, params }) => ({
      status: 200,
      ...(await historyOf(store, principal, params.id, now())),
    })),

    write(operations.restoreMemory, async ({ principal, params, body, options }, tx) =>
      shown(200, await restoreMemory(tx, tools, principal, params.id, body.version), options),
    ),
  ]
}
