// The turn that a message needs for a long result, from the moment the result is read until the client has taken it. As
// a value, it may have twenty times the size of its text: forty results of 5 MB at a time ended the process.
import type { InTurn } from '../kernel/in-turn.ts'

export interface ResultTurn {
  /** Resolves when the turn of this message has come; at once if it already has. */
  take(): Promise<void>
  /** The message is answered. */
  leave(): void
}

interface ResultTurnOfRequest extends ResultTurn {
  /** The request is over: what still works for it gets no turn, because nobody would end that. */
  close(): void
}

/** `front` resolves when the answers to this request can go out: until then no turn is taken for them. */
export function makeResultTurn(
  inTurn: InTurn,
  who: Parameters<InTurn>[0],
  front: () => Promise<void>,
): ResultTurnOfRequest {
  let isClosed = false
  let taken: Promise<void> | null = null
  let over = Promise.withResolvers<void>()

  function leave(): void {
    over.resolve()
    over = Promise.withResolvers()
    taken = null
  }

  async function take({ promise }: typeof over): Promise<void> {
    await front()
    await new Promise<void>((resolve, reject) => {
      inTurn(who, () => {
        resolve()
        return promise
      }).catch(reject)
    })
  }

  return {
    take() {
      if (isClosed) return Promise.reject(new Error('the client has gone away'))
      return (taken ??= take(over))
    },
    leave,
    close() {
      isClosed = true
      leave()
    },
  }
}
