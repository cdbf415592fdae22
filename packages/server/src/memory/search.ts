// Asks the search thread, which opens the store at `where` for itself.
import { makeThread } from '../kernel/thread.ts'
import { StoreUnavailable } from '../store/db.ts'
import type { Finder } from './memory-index.ts'
import type { Answer, Question, Where } from './search-thread.ts'

export function makeSearch(where: Where): Finder & { close(): Promise<void> } {
  const thread = makeThread<Question, Answer>(new URL('./search-thread.ts', import.meta.url), 'search', where)
  return {
    async find(sought) {
      const answer = await thread.ask(sought)
      if ('away' in answer) throw new StoreUnavailable(answer.away)
      return answer.found
    },
    close: thread.close,
  }
}
