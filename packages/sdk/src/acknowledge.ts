// Batches acknowledgements: handlers that finish within a few milliseconds of each other share one call.
import { sleep } from './wait.ts'

const MAX_IDS = 100
const GATHER_MS = 5

interface Batch {
  ids: string[]
  sent: Promise<void>
}

/** Returns a function that resolves when the service has confirmed the acknowledgement, and rejects if it could not. */
export function makeAcknowledge(send: (ids: readonly string[]) => Promise<unknown>): (id: string) => Promise<void> {
  let open: Batch | null = null

  function begin(): Batch {
    const ids: string[] = []
    const sent = sleep(GATHER_MS).then(async () => {
      if (open === batch) open = null
      await send(ids)
    })
    const batch = { ids, sent }
    return batch
  }

  return (id) => {
    const batch = (open ??= begin())
    if (batch.ids.push(id) >= MAX_IDS) open = null
    return batch.sent
  }
}
