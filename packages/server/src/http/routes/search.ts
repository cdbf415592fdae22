// POST /memories/search
import { operations } from '@sensorium/contract'
import { searchMemories, type Recall } from '../../memory/recall.ts'
import type { Store } from '../../store/db.ts'
import { ok } from '../answer.ts'
import { own, type Route } from '../route.ts'

export interface SearchTools {
  store: Store
  recall: Recall
  now(): number
}

// Its own transaction: computing must not hold one open.
export const searchRoutes = ({ store, recall, now }: SearchTools): Route[] => [
  own(operations.searchMemories, async ({ principal, body }, remember) =>
    ok(await searchMemories(store, recall, now(), principal, body, async (tx, answer) => remember?.(tx, ok(answer)))),
  ),
]
