// Batches calls about deliveries: those that are due within a few milliseconds of each other are made as one.
import { sleep } from './wait.ts'

const MAX_IDS = 100
const GATHER_MS = 5

/** Returns a function that resolves when the call with the id has been made, and rejects if it could not. */
export function makeGathered(send: (ids: string[]) => Promise<unknown>): (id: string) => Promise<unknown> {
  let open: string[] = []
  let sent: Promise<unknown>

  return (id) => {
    if (open.length % MAX_IDS === 0) {
      const ids: string[] = (open = [])
      sent = sleep(GATHER_MS).then(() => {
        if (open === ids) open = []
        return send(ids)
      })
    }
    open.push(id)
    return sent
  }
}
