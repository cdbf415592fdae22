// Batches acknowledgements: handlers that finish within a few milliseconds of each other share one call.

const MAX_IDS = 100
const GATHER_MS = 5

interface Batch {
  ids: string[]
  /** Sends the batch without waiting for more ids. */
  send(): void
  sent: Promise<void>
}

/** Returns a function that resolves when the service has confirmed the acknowledgement, and rejects if it could not. */
export function makeAcknowledge(send: (ids: readonly string[]) => Promise<unknown>): (id: string) => Promise<void> {
  let open: Batch | null = null

  function begin(): Batch {
    const ids: string[] = []
    let go!: () => void
    const ready = new Promise<void>((resolve) => (go = resolve))
    setTimeout(go, GATHER_MS)
    const batch: Batch = {
      ids,
      send: go,
      sent: ready.then(async () => {
        if (open === batch) open = null
        await send(ids)
      }),
    }
    return batch
  }

  return (id) => {
    open ??= begin()
    const batch = open
    batch.ids.push(id)
    if (batch.ids.length >= MAX_IDS) {
      open = null
      batch.send()
    }
    return batch.sent
  }
}
