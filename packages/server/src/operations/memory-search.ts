// POST /memories/search
import { operations } from '@sensorium/contract'
import { searchMemories, type Recall } from '../memory/recall.ts'
import type { Store } from '../store/db.ts'
import { own, type Binding } from './binding.ts'
import { MAX_RECORDED_READ } from './idempotency.ts'

interface SearchTools {
  store: Store
  recall: Recall
  now(): number
}

// Runs its own transaction: computing must not hold one open.
export const memorySearchOperations = ({ store, recall, now }: SearchTools): Binding[] => [
  own(operations.searchMemories, async ({ principal, body, options }, record) => ({
    status: 200,
    changesNothing: true,
    ...(await searchMemories(
      store,
      recall,
      principal,
      body,
      { now: now(), isBrief: options.brief },
      async (tx, found) => {
        // A long response is not recorded: repeating the search has no effect that the first did not have.
        if ('text' in found && found.text.length <= MAX_RECORDED_READ)
          await record?.(tx, { status: 200, text: found.text })
      },
    )),
  })),
]
