// Calls operations in this process for a tool or a resource.
import type { Principal } from '../auth/principal.ts'
import { passOnInSteps } from '../kernel/json-steps.ts'
import { SHORT_LENGTH } from '../kernel/lengths.ts'
import type { Pause } from '../kernel/step-turns.ts'
import type { CallOptions } from '../operations/call.ts'
import type { Operations } from '../operations/perform.ts'
import { resultOf, type Pieces } from '../operations/response.ts'
import { readListedEvent } from './long-data.ts'
import type { ResultTurn } from './result-turn.ts'
import type { ToolCaller, EventOf } from './tool.ts'

interface CallerTools {
  operations: Operations
  principal: Principal
  options: CallOptions
  pause: Pause
  resultTurn: ResultTurn
}

export function callerInProcess({ operations, principal, options, pause, resultTurn }: CallerTools): ToolCaller {
  async function parse(text: string): Promise<unknown> {
    if (text.length > SHORT_LENGTH) await resultTurn.take()
    return passOnInSteps(text, pause)
  }

  /** No more of a body is made without a turn than a short one has. */
  async function* inTurn(pieces: Pieces): Pieces {
    let length = 0
    for await (const piece of pieces) {
      yield piece
      length += piece.length
      if (length > SHORT_LENGTH) await resultTurn.take()
    }
  }

  return {
    id: principal.id,
    pause,
    async call(operation, input) {
      const response = await operations.perform(principal, operation, input, options)
      const { pieces } = response
      return resultOf<typeof operation>(pieces ? { ...response, pieces: inTurn(pieces) } : response, parse)
    },
    async *events(operation, input) {
      const { items = [], putBack } = await operations.perform(principal, operation, input, options)
      let isRead = false
      try {
        for (const item of items) {
          if (typeof item !== 'string') await resultTurn.take()
          const text = typeof item === 'string' ? item : await item()
          if (text === undefined) continue
          yield (await readListedEvent(text, pause)) as EventOf<typeof operation>
          await pause()
        }
        isRead = true
      } finally {
        // The client has gone: what was leased for it is due again at once.
        if (!isRead) await putBack?.()
      }
    },
  }
}
