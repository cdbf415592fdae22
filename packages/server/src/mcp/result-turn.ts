// The turn that a message needs for a long result, from the moment the result is read until the client has taken it. As
// a value, it may have twenty times the size of its text: forty results of 5 MB at a time ended the process.
import type { InTurn } from '../kernel/in-turn.ts'

export interface ResultTurn {
  /** Resolves when the turn of this message has come; at once if it already has. */
  take(): Promise<void>
  /** The message is answered. */
  leave(): void
}

export function makeResultTurn(inTurn: InTurn, who: Parameters<InTurn>[0]): ResultTurn {
  let taken: Promise<void> | null = null
  let over = Promise.withResolvers<void>()

  return {
    take() {
      const { promise } = over
      taken ??= new Promise((resolve, reject) => {
        inTurn(who, () => {
          resolve()
          return promise
        }).catch(reject)
      })
      return taken
    },
    leave() {
      over.resolve()
      over = Promise.withResolvers()
      taken = null
    },
  }
}
