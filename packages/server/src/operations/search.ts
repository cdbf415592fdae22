// POST /memories/search
import { operations } from '@sensorium/contract'
import { searchMemories, type Recall } from '../memory/recall.ts'
import type { Store } from '../store/db.ts'
import { ok } from './response.ts'
import { own, type Binding } from './binding.ts'

export interface SearchTools {
  store: Store
  recall: Recall
  now(): number
}

// Its own transaction: computing must not hold one open.
export const searchOperations = ({ store, recall, now }: SearchTools): Binding[] => [
  own(operations.searchMemories, async ({ principal, body }, record) =>
    ok(await searchMemories(store, recall, now(), principal, body, async (tx, found) => record?.(tx, ok(found)))),
  ),
]
